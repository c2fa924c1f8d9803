package adserver

import (
	"context"
	"strings"
	"time"

	"plaza/ads"
	"plaza/fault"
)

// Request asks for ads.
type Request struct {
	Site, Zone string
	Keywords   []string // what the page is about; MaxKeywords at most
	Count      int      // 1 to MaxCount
	// User and Visitor say whose caps count: the id of a signed-in user, or else a first-party id
	// that the client assigns, 1 to MaxVisitor characters of A–Z, a–z, 0–9, '-', '_' and '.'. If
	// both are empty, no caps are counted.
	User, Visitor string
	Staff         bool // the person manages ads: what they see and click is not counted
}

// MaxVisitor bounds a visitor's id, in bytes.
const MaxVisitor = 128

// check validates and parses a request.
func (r *Request) check() (place ads.ZoneID, keywords []string, err error) {
	place = ads.ZoneID{Site: r.Site, Name: r.Zone}
	if err := place.Check("site", "zone"); err != nil {
		return place, nil, err
	}
	if r.Count < 1 || r.Count > MaxCount {
		return place, nil, fault.Invalidf("count", "You can request 1 to %d ads.", MaxCount)
	}
	if err := checkVisitor(r.Visitor); err != nil {
		return place, nil, err
	}
	keywords, err = ads.NormalKeywords("keywords", r.Keywords)
	return place, keywords, err
}

func checkVisitor(visitor string) error {
	if len(visitor) > MaxVisitor || strings.Trim(visitor, visitorCharacters) != "" {
		return fault.Invalidf("visitor", "A visitor's id must have at most %d letters, digits, '-', '_' and '.'.", MaxVisitor)
	}
	return nil
}

const visitorCharacters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_."

// Choice is an ad unit that was chosen for a zone.
type Choice struct {
	ID         ads.ChoiceID // unique to this choice
	Unit       ads.UnitID
	Advertiser string // the name of the advertiser, to show beside the ad
	ads.Creative
	Matched []string // the keywords that the unit was chosen for, in a zone of the design ByKeywords
	Counted bool     // the person's earlier impressions were checked against caps

	// ImpressionToken is what Service.RecordImpression takes once the ad has really been shown.
	ImpressionToken string
	// ClickToken is the last part of the address to link to. Link there rather than to LandingURL,
	// so that Service.RecordClick counts the click.
	ClickToken string
}

// Choose picks up to count running ads of a site's zone, best first, by the rules of the zone's
// design; ties come in random order. No advertiser appears twice unless nothing else is left, and
// house ads only fill up. It returns fewer ads if fewer can be shown, and none if the site or the
// zone does not exist. Names that no zone can have, and a bad count, visitor or keyword, are an
// Error for "site", "zone", "count", "visitor" or "keywords".
//
// It costs one read of the zone, unless this server has read it within the last second, and one
// write of the profile if one of the best units has caps. What it reserves of caps and budgets is
// released unless the impression is recorded within ImpressionLife.
func (s *Service) Choose(ctx context.Context, r Request) ([]Choice, error) {
	t, err := s.ranking(ctx, r, s.recent.read)
	if err != nil {
		return nil, err
	}
	stakes := newStakes(s.wallet, r.Count)
	funded := fund(t.order, r.Count, func(c *contender) bool { return stakes.cover(ctx, c) })
	reservation := reservation(t.profile, funded, r.Count, t.now)
	chosen, err := s.reserve(ctx, reservation)
	stakes.settle(funded, chosen)
	choices := make([]Choice, 0, len(chosen))
	for _, i := range chosen {
		choice := funded[i].chosen(t.place, t.profile, r.Staff, t.now).choice(t.key)
		choice.Counted = hasCaps(&reservation)
		choices = append(choices, choice)
	}
	if err == nil && t.currency != "" && !r.Staff {
		s.counter.chosen(t.place, t.currency, r.Count, len(choices))
	}
	return choices, present(err)
}

// reserve accesses the database only if some candidates have caps.
func (s *Service) reserve(ctx context.Context, r ads.Reservation) ([]int, error) {
	if !hasCaps(&r) {
		return new(ads.Profile).Reserve(r), nil
	}
	return s.store.Reserve(ctx, r)
}

// profile returns the profile whose caps count; zero if the request names neither a user nor a
// visitor.
func (r *Request) profile(key []byte) ads.ProfileID {
	switch {
	case r.User != "":
		return ads.UserProfile(key, r.User)
	case r.Visitor != "":
		return VisitorProfile(key, r.Visitor)
	default:
		return ads.ProfileID{}
	}
}

// VisitorProfile returns the profile id of a visitor, under the database's key: see Keys.
func VisitorProfile(key []byte, visitor string) ads.ProfileID {
	return ads.Hashed(key, "visitor", visitor)
}

// Forget deletes what is remembered about the ads that a user has seen, and removes the user from
// their latest clicks. The deletion of the account does that in the background, too, for all clicks;
// but not if a server of the previous version carries it out.
func (s *Service) Forget(ctx context.Context, user string) error {
	_, err := s.store.ForgetUser(ctx, user)
	return present(err)
}

// award is a choice that has no tokens yet.
type award struct {
	unit    *ads.RunningUnit
	matched []string
	token   token
	now     time.Time
}

func (c *contender) chosen(place ads.ZoneID, profile ads.ProfileID, staff bool, now time.Time) *award {
	t := token{Choice: c.choice, Unit: c.Unit, Campaign: c.Campaign, Profile: profile, Zone: place, Matched: matchedText(c.matched)}
	if c.grant != nil && c.grant.key.kind == ads.Impression {
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
	choice.ImpressionToken = a.sign(key, ads.Impression, ads.ImpressionLife)
	choice.ClickToken = a.sign(key, ads.Click, ads.ClickLife)
	return choice
}

func (a *award) sign(key []byte, kind ads.Kind, life time.Duration) string {
	t := a.token
	t.Kind, t.ExpiresAt = kind, a.now.Add(life).Truncate(time.Second)
	if kind == ads.Click {
		t.Landing, t.Days = a.unit.LandingURL, a.unit.Attribution
	}
	if !a.unit.House {
		t.Cost = a.unit.Bid.Cost(kind)
	}
	if !a.unit.House && kind == ads.Click {
		t.ActionCost = a.unit.Bid.Cost(ads.Conversion)
	}
	return t.sign(key)
}
