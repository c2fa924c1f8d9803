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
	Lifetime Window = "LIFETIME" // as long as the profile is kept: ProfileLife
)

// ProfileLife is how long a person's impressions are remembered.
const ProfileLife = 400 * 24 * time.Hour

// Length returns the length of the window.
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
	// MaxCapCount is the most impressions that a cap can allow. It is limited because a profile
	// stores each of them.
	MaxCapCount = 100
	// MaxCaps is the most caps that an advertiser, a campaign or a unit can have: one for each
	// window.
	MaxCaps = 4
)

// Cap limits how often one person sees something: at most Count times in any window of that length.
type Cap struct {
	Count int // 1 to MaxCapCount
	Per   Window
}

func checkCaps(field string, caps []Cap) error {
	if len(caps) > MaxCaps {
		return fault.Invalidf(field, "Each window can have at most one cap.")
	}
	var wrong []error
	for i, c := range caps {
		at := fmt.Sprintf("%s.%d", field, i)
		if c.Count < 1 || c.Count > MaxCapCount {
			wrong = append(wrong, fault.Invalidf(at+".count", "A cap must allow 1 to %d impressions.", MaxCapCount))
		}
		if c.Per.Length() == 0 {
			wrong = append(wrong, fault.Invalidf(at+".per", "A cap must be per HOUR, DAY, WEEK or LIFETIME."))
		} else if slices.ContainsFunc(caps[:i], func(other Cap) bool { return other.Per == c.Per }) {
			wrong = append(wrong, fault.Invalidf(at+".per", "Each window can have at most one cap."))
		}
	}
	return fault.All(wrong...)
}

// ScopeCap is a cap on one unit, campaign or advertiser, which the id identifies.
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

// Profile holds what Plaza remembers about a person: each impression that a cap counts, and nothing
// else.
type Profile struct {
	ID   ProfileID
	Seen []Sighting
}

// Sighting is one impression, counted for one scope.
type Sighting struct {
	Scope  id.ID
	Choice ChoiceID
	At     time.Time // when it was chosen
	// Until is when it stops counting: soon, while it is only reserved; once the impression is
	// confirmed, it becomes Keep.
	Until time.Time
	Keep  time.Time // At plus the longest window of the scope's caps
}

// Candidate is a unit that a Reservation may choose.
type Candidate struct {
	Choice     ChoiceID // the id that the choice gets, if this candidate is chosen
	Advertiser AdvertiserID
	Caps       []ScopeCap
	// Fallback candidates only fill the slots that the others leave empty.
	Fallback bool
}

// Reservation asks for the best candidates that a person's caps allow.
type Reservation struct {
	Profile    ProfileID
	Count      int
	Candidates []Candidate // best first, and all Fallback candidates last
	Now        time.Time
}

// try is one attempt to choose a candidate.
type try struct {
	Candidate int
	Again     bool // the same advertiser may be chosen a second time
}

// tries returns the attempts in order: no advertiser is chosen twice unless nothing else is left,
// and fallbacks come after all others.
func (r *Reservation) tries() []try {
	rounds := []bool{false, true}
	if r.Count == 1 {
		rounds = rounds[:1] // no advertiser can appear twice
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

// Tries calls look for each attempt to choose a candidate, in order.
func (r *Reservation) Tries(look func(candidate int, again bool)) {
	for _, t := range r.tries() {
		look(t.Candidate, t.Again)
	}
}

// Reserve chooses candidates and counts them in the profile. It returns the indexes of those that
// it has chosen, best first.
func (p *Profile) Reserve(r Reservation) []int {
	p.Seen = slices.DeleteFunc(p.Seen, func(s Sighting) bool { return !s.Until.After(r.Now) })
	chosen, advertisers := []int{}, map[AdvertiserID]bool{}
	for _, t := range r.tries() {
		c := &r.Candidates[t.Candidate]
		if len(chosen) == r.Count || slices.Contains(chosen, t.Candidate) || (advertisers[c.Advertiser] && !t.Again) || !p.Allows(c.Caps, r.Now) {
			continue
		}
		chosen = append(chosen, t.Candidate)
		advertisers[c.Advertiser] = true
		p.Seen = append(p.Seen, c.Sightings(r.Now)...)
	}
	return chosen
}

// Allows reports whether the caps allow another impression.
func (p *Profile) Allows(caps []ScopeCap, now time.Time) bool {
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

// Sightings returns what choosing a candidate adds to a profile: one sighting for each scope.
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

// Confirm keeps the sightings of a choice for as long as its caps need them: the ad was shown.
func (p *Profile) Confirm(choice ChoiceID) {
	for i := range p.Seen {
		if p.Seen[i].Choice == choice {
			p.Seen[i].Until = p.Seen[i].Keep
		}
	}
}
