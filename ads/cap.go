package ads

import (
	"fmt"
	"slices"
	"time"

	"plaza/fault"
	"plaza/id"
)

// Window is a span of time that ends now.
type Window string

// The windows.
const (
	Hour     Window = "HOUR"
	Day      Window = "DAY"
	Week     Window = "WEEK"
	Lifetime Window = "LIFETIME" // of the profile: ProfileLife
)

// ProfileLife is how long anything is remembered of a person.
const ProfileLife = 400 * 24 * time.Hour

// Length is how long the window is.
func (w Window) Length() time.Duration {
	switch w {
	case Hour:
		return time.Hour
	case Day:
		return 24 * time.Hour
	case Week:
		return 7 * 24 * time.Hour
	case Lifetime:
		return ProfileLife
	default:
		return 0
	}
}

const (
	// MaxCapCount is the most impressions that a cap can allow: a profile remembers each of them.
	MaxCapCount = 100
	// MaxCaps is how many caps an advertiser, a campaign or a unit has: one for each window.
	MaxCaps = 4
)

// Cap lets one person see something Count times at most in any window of that length.
type Cap struct {
	Count int // 1 to MaxCapCount
	Per   Window
}

func checkCaps(field string, caps []Cap) error {
	if len(caps) > MaxCaps {
		return fault.Invalidf(field, "There is one cap at most for each window.")
	}
	var wrong []error
	for i, c := range caps {
		at := fmt.Sprintf("%s.%d", field, i)
		if c.Count < 1 || c.Count > MaxCapCount {
			wrong = append(wrong, fault.Invalidf(at+".count", "A cap allows 1 to %d impressions.", MaxCapCount))
		}
		if c.Per.Length() == 0 {
			wrong = append(wrong, fault.Invalidf(at+".per", "A cap is per HOUR, DAY, WEEK or LIFETIME."))
		} else if slices.ContainsFunc(caps[:i], func(other Cap) bool { return other.Per == c.Per }) {
			wrong = append(wrong, fault.Invalidf(at+".per", "There is one cap at most for each window."))
		}
	}
	return fault.All(wrong...)
}

// ScopeCap is a cap of something: the id is a unit's, a campaign's or an advertiser's.
type ScopeCap struct {
	Scope id.ID
	Cap
}

func scoped(scope id.ID, caps []Cap) []ScopeCap {
	all := make([]ScopeCap, len(caps))
	for i, c := range caps {
		all[i] = ScopeCap{scope, c}
	}
	return all
}

// ProfileID is a person whose impressions are counted. It is a keyed hash: who it is cannot be read from it.
type ProfileID struct{ id.ID }

// Profile is what is remembered of a person: each impression that a cap counts, and nothing else.
type Profile struct {
	ID   ProfileID
	Seen []Sighting
}

// Sighting is one impression, counted for one scope.
type Sighting struct {
	Scope  id.ID
	Choice ChoiceID
	At     time.Time // when it was chosen
	// Until is when it stops counting: soon, until it is known to have been shown; then Keep.
	Until time.Time
	Keep  time.Time // At and the longest window of the scope's caps
}

// Candidate is a unit that may be chosen, in a Reservation.
type Candidate struct {
	Choice     ChoiceID // becomes the choice's, if it is chosen
	Advertiser AdvertiserID
	Caps       []ScopeCap
	// Fallback candidates are for what the others leave empty.
	Fallback bool
}

// Reservation asks for the best candidates that a person's caps allow.
type Reservation struct {
	Profile    ProfileID
	Count      int
	Candidates []Candidate // best first; those that are Fallback last
	Now        time.Time
}

// try is one look at a candidate.
type try struct {
	Candidate int
	Again     bool // an advertiser may come twice
}

// Tries are the looks at the candidates, one after the other: no advertiser twice unless there is nothing else, and
// fallbacks behind all others.
func (r *Reservation) tries() []try {
	rounds := []bool{false, true}
	if r.Count == 1 {
		rounds = rounds[:1] // nobody comes twice
	}
	tries := make([]try, 0, len(rounds)*len(r.Candidates))
	for _, fallback := range []bool{false, true} {
		for _, again := range rounds {
			for i := range r.Candidates {
				if r.Candidates[i].Fallback == fallback {
					tries = append(tries, try{i, again})
				}
			}
		}
	}
	return tries
}

// Tries calls look for each look at a candidate, in order.
func (r *Reservation) Tries(look func(candidate int, again bool)) {
	for _, t := range r.tries() {
		look(t.Candidate, t.Again)
	}
}

// Reserve chooses, and counts what it has chosen. It returns the places of the chosen in the list of candidates, best first.
func (p *Profile) Reserve(r Reservation) []int {
	p.Seen = slices.DeleteFunc(p.Seen, func(s Sighting) bool { return !s.Until.After(r.Now) })
	chosen, advertisers := []int{}, map[AdvertiserID]bool{}
	for _, t := range r.tries() {
		c := &r.Candidates[t.Candidate]
		if len(chosen) == r.Count || slices.Contains(chosen, t.Candidate) || (advertisers[c.Advertiser] && !t.Again) || !p.allows(c.Caps, r.Now) {
			continue
		}
		chosen = append(chosen, t.Candidate)
		advertisers[c.Advertiser] = true
		p.Seen = append(p.Seen, c.Sightings(r.Now)...)
	}
	return chosen
}

// allows says whether no cap is used up.
func (p *Profile) allows(caps []ScopeCap, now time.Time) bool {
	for _, c := range caps {
		since, seen := now.Add(-c.Per.Length()), 0
		for _, s := range p.Seen {
			if s.Scope == c.Scope && s.At.After(since) && s.Until.After(now) {
				seen++
			}
		}
		if seen >= c.Count {
			return false
		}
	}
	return true
}

// Sightings are what choosing a candidate adds to a profile: one for each scope.
func (c *Candidate) Sightings(now time.Time) []Sighting {
	var added []Sighting
	for _, limit := range c.Caps {
		keep := now.Add(limit.Per.Length())
		i := slices.IndexFunc(added, func(s Sighting) bool { return s.Scope == limit.Scope })
		if i < 0 {
			added = append(added, Sighting{Scope: limit.Scope, Choice: c.Choice, At: now, Until: now.Add(ImpressionLife), Keep: keep})
		} else if keep.After(added[i].Keep) {
			added[i].Keep = keep
		}
	}
	return added
}

// Confirm makes what was reserved for a choice count for as long as caps need it: the ad was shown.
func (p *Profile) Confirm(choice ChoiceID) {
	for i := range p.Seen {
		if p.Seen[i].Choice == choice {
			p.Seen[i].Until = p.Seen[i].Keep
		}
	}
}
