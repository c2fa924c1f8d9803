package ads

import "plaza/fault"

// State says whether a campaign or a unit is eligible for choices.
type State string

// The states.
const (
	Active   State = "ACTIVE"
	Paused   State = "PAUSED"
	Archived State = "ARCHIVED" // for good, and hidden from the lists of active and paused ones
)

func (s State) check(field string) error {
	switch s {
	case Active, Paused, Archived:
		return nil
	default:
		return fault.Invalidf(field, "A state is ACTIVE, PAUSED or ARCHIVED.")
	}
}

// Campaign is a group of an advertiser's ad units that share a run time, a budget and caps.
type Campaign struct {
	ID         CampaignID
	Advertiser AdvertiserID
	Name       string // shown to its owner only; 1 to MaxName characters
	State      State
	// House marks the site's own ads. They cost nothing, and only fill slots that no other ads can
	// fill.
	House    bool
	Schedule Schedule
	Budget   Budget
	Caps     []Cap // limits that cover all of its units
	// Attribution is how many days after its click a conversion counts, 1 to MaxAttribution; 0
	// means DefaultAttribution. A choice keeps the value that applied when it was made.
	Attribution int
	Revision    int // see Advertiser.Revision
}

func (c *Campaign) check(field string) error {
	return fault.All(c.checkIDs(field), c.checkParts(field), c.checkPace(field))
}

// Check validates a new campaign, apart from its ids.
func (c *Campaign) Check() error { return fault.All(c.checkParts(""), c.checkPace("")) }

func (c *Campaign) checkIDs(field string) error {
	if c.ID.IsZero() {
		return fault.Invalidf(at(field, "id"), "A campaign needs an id.")
	}
	if c.Advertiser.IsZero() {
		return fault.Invalidf(at(field, "advertiser"), "A campaign needs an advertiser.")
	}
	return nil
}

func (c *Campaign) checkParts(field string) error {
	var house error
	if c.House && c.Budget != (Budget{}) {
		house = fault.Invalidf(at(field, "budget"), "House ads cost nothing, and have no budget.")
	}
	return fault.All(
		fault.CheckLine(at(field, "name"), c.Name, 1, MaxName), c.State.check(at(field, "state")), c.Schedule.check(at(field, "schedule")),
		c.Budget.check(at(field, "budget")), house, checkCaps(at(field, "caps"), c.Caps),
		c.checkAttribution(at(field, "attributionDays")),
	)
}

func (c *Campaign) checkPace(field string) error {
	if c.Budget.Even && c.Budget.Daily == 0 && c.Schedule.End.IsZero() {
		return fault.Invalidf(at(field, "budget.even"), "An even pace needs a daily budget or an end.")
	}
	return nil
}
