package ads

import (
	"fmt"

	"plaza/fault"
)

// The limits of an ad unit.
const (
	MaxHeadline  = 100 // characters
	MaxBody      = 500 // characters
	MaxUnitZones = 100 // zones that one unit is placed in
)

// Creative is what a viewer gets to see of an ad unit, and where it leads.
type Creative struct {
	Headline   string // 1 to MaxHeadline characters
	Body       string // 0 to MaxBody characters
	ImageURL   string // http(s), or empty: no picture
	LandingURL string // http(s): the page that a click leads to
}

func (c *Creative) check(field string) error {
	if err := fault.CheckLine(field+".headline", c.Headline, 1, MaxHeadline); err != nil {
		return err
	}
	if err := fault.CheckLine(field+".body", c.Body, 0, MaxBody); err != nil {
		return err
	}
	if c.ImageURL != "" {
		if err := fault.CheckURL(field+".imageUrl", c.ImageURL); err != nil {
			return err
		}
	}
	return fault.CheckURL(field+".landingUrl", c.LandingURL)
}

// Unit is one advertisement.
type Unit struct {
	ID       UnitID
	Campaign CampaignID
	Creative
	Bid   Bid
	Zones []ZoneID // where it is placed: 1 to MaxUnitZones, each once

	Impressions int64 // recorded in all zones
	Clicks      int64 // recorded in all zones
}

// ECPM is what a thousand impressions of the unit are expected to earn, as the function ECPM has it.
func (u *Unit) ECPM() Micros { return ECPM(u.Bid, u.Impressions, u.Clicks) }

func (u *Unit) check(field string) error {
	if u.ID.IsZero() {
		return fault.Invalidf(field+".id", "A unit needs an id.")
	}
	if u.Campaign.IsZero() {
		return fault.Invalidf(field+".campaign", "A unit needs a campaign.")
	}
	if err := u.Creative.check(field); err != nil {
		return err
	}
	if err := u.Bid.check(field + ".bid"); err != nil {
		return err
	}
	if u.Impressions != 0 || u.Clicks != 0 {
		return fault.Invalidf(field, "A new unit has neither impressions nor clicks.")
	}
	return u.checkZones(field + ".zones")
}

func (u *Unit) checkZones(field string) error {
	if len(u.Zones) == 0 || len(u.Zones) > MaxUnitZones {
		return fault.Invalidf(field, "A unit is placed in 1 to %d zones.", MaxUnitZones)
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
