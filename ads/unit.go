package ads

import (
	"fmt"
	"slices"

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
		image = fault.CheckURL(at(field, "imageUrl"), c.ImageURL)
	}
	return fault.All(
		fault.CheckLine(at(field, "headline"), c.Headline, 1, MaxHeadline),
		fault.CheckLine(at(field, "body"), c.Body, 0, MaxBody),
		image,
		checkLanding(at(field, "landingUrl"), c.LandingURL),
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
	Weight   int // 0 to MaxWeight
	Caps     []Cap
	Revision int // see Advertiser.Revision

	Impressions int64 // recorded in all zones
	Clicks      int64 // recorded in all zones
	Conversions int64 // recorded in all zones
}

// ECPM returns what a thousand impressions of the unit are expected to earn: see the function ECPM.
func (u *Unit) ECPM() Micros { return ECPM(u.Bid, u.Impressions, u.Clicks, u.Conversions) }

func (u *Unit) check(field string) error {
	if u.ID.IsZero() {
		return fault.Invalidf(at(field, "id"), "A unit needs an id.")
	}
	if u.Campaign.IsZero() {
		return fault.Invalidf(at(field, "campaign"), "A unit needs a campaign.")
	}
	if err := u.checkParts(field); err != nil {
		return err
	}
	if u.Revision == 0 && (u.Impressions != 0 || u.Clicks != 0 || u.Conversions != 0) {
		return fault.Invalidf(field, "A new unit has no impressions, clicks or conversions.")
	}
	return nil
}

// Check validates a unit, apart from its ids.
func (u *Unit) Check() error { return u.checkParts("") }

func (u *Unit) checkParts(field string) error {
	return fault.All(
		u.Creative.check(field), u.Bid.check(at(field, "bid")), u.State.check(at(field, "state")), u.checkZones(at(field, "zones")),
		u.checkKeywords(at(field, "keywords")), u.checkKeywordWeights(at(field, "keywordWeights")), checkCaps(at(field, "caps"), u.Caps), u.checkWeight(at(field, "weight")),
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
		return fault.Invalidf(field, "A weight is 1 to %d. Leave it out for an ad that stands alone.", MaxWeight)
	}
	return nil
}

func (u *Unit) checkKeywords(field string) error {
	normal, err := NormalKeywords(field, u.Keywords)
	if err == nil && !slices.Equal(normal, u.Keywords) {
		return fault.Invalidf(field, "Keywords are in lower case, sorted, each once.")
	}
	return err
}

func (u *Unit) checkZones(field string) error {
	if len(u.Zones) > MaxUnitZones {
		return fault.Invalidf(field, "A unit is placed in %d zones at most.", MaxUnitZones)
	}
	seen := make(map[ZoneID]bool, len(u.Zones))
	for i, zone := range u.Zones {
		at := fmt.Sprintf("%s.%d", field, i)
		if err := zone.check(at, at); err != nil {
			return err
		}
		if seen[zone] {
			return fault.Invalidf(at, "A unit is placed in a zone once.")
		}
		seen[zone] = true
	}
	return nil
}
