package ads

import (
	"context"
	"slices"
	"strings"
	"time"

	"plaza/fault"
)

// Request asks for ads.
type Request struct {
	Site, Zone string
	Keywords   []string // what the page is about; MaxKeywords at most
	Count      int      // 1 to MaxCount
	// User and Visitor say whose caps count: a signed-in user's id, or else a first-party id of the client's own, 1 to
	// MaxVisitor characters of A–Z, a–z, 0–9, '-', '_' and '.'. Both empty: nobody's.
	User, Visitor string
	Staff         bool // it manages ads: what it sees and clicks counts nowhere
}

// MaxVisitor bounds a visitor's id, in bytes.
const MaxVisitor = 128

// check reads a request.
func (r *Request) check() (place ZoneID, keywords []string, err error) {
	place = ZoneID{Site: r.Site, Name: r.Zone}
	if err := place.check("site", "zone"); err != nil {
		return place, nil, err
	}
	if r.Count < 1 || r.Count > MaxCount {
		return place, nil, fault.Invalidf("count", "At least 1 and at most %d ads can be asked for.", MaxCount)
	}
	if err := checkVisitor(r.Visitor); err != nil {
		return place, nil, err
	}
	keywords, err = NormalKeywords("keywords", r.Keywords)
	return place, keywords, err
}

func checkVisitor(visitor string) error {
	if len(visitor) > MaxVisitor || strings.Trim(visitor, visitorCharacters) != "" {
		return fault.Invalidf("visitor", "A visitor's id has up to %d letters, digits, '-', '_' and '.'.", MaxVisitor)
	}
	return nil
}

const visitorCharacters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_."

// Choice is an ad unit that was chosen for a zone.
type Choice struct {
	ID         ChoiceID // this choice's alone
	Unit       UnitID
	Advertiser string // who pays: a name to show
	Creative
	Matched []string // the keywords that it was chosen for, in a zone of the design ByKeywords
	Counted bool     // what the person has seen of ads with caps was looked at

	// ImpressionToken goes to Service.RecordImpression when the ad was really shown.
	ImpressionToken string
	// ClickToken is the end of the address to link to. Link there rather than to LandingURL, so that the click is counted
	// by Service.RecordClick.
	ClickToken string
}

// Choose takes up to count ads that run in a site's zone, best first, as the zone's design has it; those that tie come in random
// order. No advertiser comes twice unless there is nothing else, and house ads only where the others are too few. Fewer come
// where fewer can be shown, and none where there is no such site or zone. Names that no zone can have, and a bad count,
// visitor or keyword, are an Error for "site", "zone", "count", "visitor" or "keywords".
//
// It costs one read of the zone, unless this server has read it within a second, and one write of the profile where one of the best has caps. What it reserves under caps and
// budgets goes back unless the impression is recorded within ImpressionLife.
func (s *Service) Choose(ctx context.Context, r Request) ([]Choice, error) {
	t, err := s.ranking(ctx, r, s.recent.read)
	if err != nil {
		return nil, err
	}
	funded := fund(t.order, r.Count, func(c *contender) bool { return s.wallet.holdFor(ctx, c) })
	reservation := reservation(t.profile, funded, r.Count, t.now)
	chosen, err := s.reserve(ctx, reservation)
	choices := make([]Choice, 0, len(chosen))
	for _, i := range chosen {
		choice := funded[i].chosen(t.place, t.profile, r.Staff, t.now).choice(t.key)
		choice.Counted = reservation.hasCaps()
		choices = append(choices, choice)
	}
	for i, c := range funded {
		if c.held > 0 && !slices.Contains(chosen, i) {
			s.wallet.back(c.grant, c.held)
		}
	}
	if err == nil && t.currency != "" && !r.Staff {
		s.counter.chosen(t.place, t.currency, r.Count, len(choices))
	}
	return choices, present(err)
}

// reserve needs the database only where there are caps.
func (s *Service) reserve(ctx context.Context, r Reservation) ([]int, error) {
	if !r.hasCaps() {
		return new(Profile).Reserve(r), nil
	}
	return s.store.Reserve(ctx, r)
}

// profile is whose caps count; zero for nobody's.
func (r *Request) profile(key []byte) ProfileID {
	switch {
	case r.User != "":
		return hashed(key, "user", r.User)
	case r.Visitor != "":
		return VisitorProfile(key, r.Visitor)
	default:
		return ProfileID{}
	}
}

// VisitorProfile is whose profile a visitor's is, under the key that the database has: see Keys.
func VisitorProfile(key []byte, visitor string) ProfileID { return hashed(key, "visitor", visitor) }

// Forget removes what is remembered of a user: what they have seen of capped ads.
func (s *Service) Forget(ctx context.Context, user string) error {
	key, err := s.signingKey(ctx)
	if err != nil {
		return err
	}
	return present(s.store.ForgetProfile(ctx, (&Request{User: user}).profile(key)))
}

// hashed makes an id of what must not be stored as it is.
func hashed(key []byte, kind, text string) ProfileID {
	return ProfileID{[idSize]byte(mac(key, []byte(kind+":"+text)))}
}

// award is a choice before it has tokens.
type award struct {
	unit    *RunningUnit
	matched []string
	token   token
	now     time.Time
}

func (c *contender) chosen(place ZoneID, profile ProfileID, staff bool, now time.Time) *award {
	t := token{Choice: c.choice, Unit: c.Unit, Campaign: c.Campaign, Profile: profile, Zone: place, Matched: matchedText(c.matched)}
	if c.grant != nil && c.grant.key.kind == Impression {
		t.Lease = c.grant.ID
	}
	if staff {
		t.Flags |= flagStaff
	}
	return &award{c.RunningUnit, c.matched, t, now}
}

func (a *award) choice(key []byte) Choice {
	choice := Choice{
		ID: a.token.Choice, Unit: a.unit.Unit, Advertiser: a.unit.Advertiser, Creative: a.unit.Creative, Matched: a.matched,
	}
	choice.ImpressionToken = a.sign(key, Impression, ImpressionLife)
	choice.ClickToken = a.sign(key, Click, ClickLife)
	return choice
}

func (a *award) sign(key []byte, kind Kind, life time.Duration) string {
	t := a.token
	t.Kind, t.ExpiresAt = kind, a.now.Add(life).Truncate(time.Second)
	if kind == Click {
		t.Landing, t.Days = a.unit.LandingURL, a.unit.Attribution
	}
	if !a.unit.House {
		t.Cost = a.unit.Bid.Cost(kind)
	}
	if !a.unit.House && kind == Click {
		t.ActionCost = a.unit.Bid.Cost(Conversion)
	}
	return t.sign(key)
}
