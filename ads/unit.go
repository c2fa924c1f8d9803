package ads

import (
	"fmt"
	"slices"
	"time"

	"plaza/fault"
)

// The limits of an ad unit.
const (
	MaxHeadline  = 100 // characters
	MaxBody      = 500 // characters
	MaxUnitZones = 100 // zones that one unit is placed in
	MaxWeight    = 1000
)

// Creative is what a viewer sees of an ad unit, and the page that it leads to.
type Creative struct {
	Headline   string // 1 to MaxHeadline characters
	Body       string // 0 to MaxBody characters
	ImageURL   string // http(s); empty: no picture
	LandingURL string // http(s): the page that a click leads to; see ClickMacro
}

func (c *Creative) check(field string) error {
	var image error
	if c.ImageURL != "" {
		image = fault.CheckURL(fault.Part(field, "imageUrl"), c.ImageURL)
	}
	return fault.All(
		fault.CheckLine(fault.Part(field, "headline"), c.Headline, 1, MaxHeadline),
		fault.CheckLine(fault.Part(field, "body"), c.Body, 0, MaxBody),
		image,
		checkLanding(fault.Part(field, "landingUrl"), c.LandingURL),
	)
}

// Unit is one advertisement.
type Unit struct {
	ID       UnitID
	Campaign CampaignID
	Creative
	State State
	Bid   Bid
	Zones []ZoneID // where it is placed: 0 to MaxUnitZones, each once
	// Keywords name the topics of the pages that the unit suits best: normal (see NormalKeywords),
	// at most MaxKeywords.
	Keywords []string
	// KeywordWeights say which of the keywords count more: normal (see NormalKeywordWeights).
	KeywordWeights []KeywordWeight
	// Weight is the unit's share among the weighted units of its campaign in a zone, which take
	// turns. A unit with weight 0 competes on its own.
	Weight    int // 0 to MaxWeight
	Caps      []Cap
	Revision  int       // see Advertiser.Revision
	CreatedAt time.Time // see Advertiser.CreatedAt

	Impressions int64 // recorded in all zones
	Clicks      int64 // recorded in all zones
	Conversions int64 // recorded in all zones
}

// ECPM returns what a thousand impressions of the unit are expected to earn: see the function ECPM.
func (u *Unit) ECPM() Micros { return ECPM(u.Bid, u.Impressions, u.Clicks, u.Conversions) }

// Check validates a unit. field is its path in the input; errors name the part.
func (u *Unit) Check(field string) error {
	if u.ID.IsZero() {
		return fault.Invalidf(fault.Part(field, "id"), "A unit needs an id.")
	}
	if u.Campaign.IsZero() {
		return fault.Invalidf(fault.Part(field, "campaign"), "A unit needs a campaign.")
	}
	if err := u.checkParts(field); err != nil {
		return err
	}
	if u.Revision == 0 && (u.Impressions != 0 || u.Clicks != 0 || u.Conversions != 0) {
		return fault.Invalidf(field, "A new unit has no impressions, clicks or conversions.")
	}
	return nil
}

// CheckChange validates a changed unit. It keeps its currency: recordings have none of their own, so
// reports and budgets would count what it has cost in the new one.
func (u *Unit) CheckChange(before *Unit) error {
	return fault.All(u.Check(""), u.CheckCurrency("", before))
}

// CheckCurrency checks that a changed unit still bids in the same currency. field is its path in
// the input.
func (u *Unit) CheckCurrency(field string, before *Unit) error {
	if is := before.Bid.Currency; is != u.Bid.Currency {
		return fault.Invalidf(fault.Part(field, "bid.currency"), "The ad has the currency %s, which can't be changed: create another ad instead.", is)
	}
	return nil
}

// CheckDraft validates a unit, apart from its ids.
func (u *Unit) CheckDraft() error { return u.checkParts("") }

func (u *Unit) checkParts(field string) error {
	return fault.All(
		u.Creative.check(field), u.Bid.check(fault.Part(field, "bid")), u.State.check(fault.Part(field, "state")), u.checkZones(fault.Part(field, "zones")),
		u.checkKeywords(fault.Part(field, "keywords")), u.checkKeywordWeights(fault.Part(field, "keywordWeights")), checkCaps(fault.Part(field, "caps"), u.Caps), u.checkWeight(fault.Part(field, "weight")),
	)
}

func (u *Unit) checkWeight(field string) error {
	if u.Weight == 0 {
		return nil
	}
	return CheckWeight(field, u.Weight)
}

// CheckWeight checks a given weight: 1 to MaxWeight. A unit without one has 0.
func CheckWeight(field string, weight int) error {
	if weight < 1 || weight > MaxWeight {
		return fault.Invalidf(field, "A weight must be 1 to %d. Leave it out for an ad that competes alone.", MaxWeight)
	}
	return nil
}

func (u *Unit) checkKeywords(field string) error {
	normal, err := NormalKeywords(field, u.Keywords)
	if err == nil && !slices.Equal(normal, u.Keywords) {
		return fault.Invalidf(field, "Keywords must be in lower case, sorted and unique.")
	}
	return err
}

func (u *Unit) checkZones(field string) error {
	if err := fault.CheckCount(field, len(u.Zones), 0, MaxUnitZones); err != nil {
		return err
	}
	seen := make(map[ZoneID]bool, len(u.Zones))
	for i, zone := range u.Zones {
		at := fmt.Sprintf("%s.%d", field, i)
		if err := zone.Check(at, at); err != nil {
			return err
		}
		if seen[zone] {
			return fault.Invalidf(at, "A unit can be placed in a zone only once.")
		}
		seen[zone] = true
	}
	return nil
}

// SetKeywords replaces the unit's keywords, which must be normal. Keywords that remain keep their
// weights.
func (u *Unit) SetKeywords(keywords []string) {
	u.Keywords = keywords
	var kept []KeywordWeight
	for _, w := range u.KeywordWeights {
		if slices.Contains(keywords, w.Keyword) {
			kept = append(kept, w)
		}
	}
	u.KeywordWeights = kept
}

func (u *Unit) checkKeywordWeights(field string) error {
	normal, err := NormalKeywordWeights(field, u.Keywords, u.KeywordWeights)
	if err == nil && !slices.Equal(normal, u.KeywordWeights) {
		return fault.Invalidf(field, "Weights must name keywords in lower case, and be sorted by keyword.")
	}
	return err
}
