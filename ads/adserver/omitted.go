package adserver

import (
	"plaza/ads"
	"plaza/fault"
)

// Omitted names the parts that the entries of a batch leave out: stored entries keep theirs, and
// new ones get those of the batch.
type Omitted struct {
	CampaignStates map[ads.CampaignID]bool
	Budgets        map[ads.CampaignID]bool
	UnitStates     map[ads.UnitID]bool
}

// NewOmitted returns a value that names nothing yet.
func NewOmitted() Omitted {
	return Omitted{map[ads.CampaignID]bool{}, map[ads.CampaignID]bool{}, map[ads.UnitID]bool{}}
}

// adoptCampaign gives a campaign the stored parts that it leaves out, and checks whether the stored
// one may be changed to it. stored is nil if there is none. A house ad costs nothing, and so it
// loses its budget.
func (o *Omitted) adoptCampaign(field string, c, stored *ads.Campaign) error {
	if stored == nil {
		return nil
	}
	if c.Advertiser != stored.Advertiser {
		return fault.Invalidf(fault.Part(field, "advertiser"), "The campaign belongs to another advertiser, which can't be changed: create another campaign instead.")
	}
	if o.CampaignStates[c.ID] {
		c.State = stored.State
	}
	if o.Budgets[c.ID] && !c.House {
		c.Budget = stored.Budget
	}
	return inside(field, c.CheckChange(stored))
}

// adoptUnit does the same for a unit that is stored.
func (o *Omitted) adoptUnit(u, stored *ads.Unit) error {
	if o.UnitStates[u.ID] {
		u.State = stored.State
	}
	return checkOrigin("", u, stored)
}

// inside adds the path of an entry to the fields of its mistakes.
func inside(entry string, err error) error {
	for _, mistake := range fault.Mistakes(err) {
		mistake.Field = fault.Part(entry, mistake.Field)
	}
	return err
}
