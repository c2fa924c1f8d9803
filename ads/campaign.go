package ads

import "plaza/fault"

// Campaign is a group of an advertiser's ad units that start and stop together.
type Campaign struct {
	ID         CampaignID
	Advertiser AdvertiserID
	Name       string // for its owner; 1 to MaxName characters
	Paused     bool   // none of its units runs in any zone
}

func (c *Campaign) check(field string) error {
	if c.ID.IsZero() {
		return fault.Invalidf(field+".id", "A campaign needs an id.")
	}
	if c.Advertiser.IsZero() {
		return fault.Invalidf(field+".advertiser", "A campaign needs an advertiser.")
	}
	return fault.CheckLine(field+".name", c.Name, 1, MaxName)
}
