package ads

import (
	"time"

	"plaza/fault"
)

// State determines whether a campaign or a unit can be chosen.
type State string

// The states.
const (
	Active   State = "ACTIVE"
	Paused   State = "PAUSED"
	Archived State = "ARCHIVED" // like Paused, but its units leave room in their zones for others
)

func (s State) check(field string) error {
	switch s {
	case Active, Paused, Archived:
		return nil
	default:
		return fault.Invalidf(field, "A state must be ACTIVE, PAUSED or ARCHIVED.")
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
	Revision    int       // see Advertiser.Revision
	CreatedAt   time.Time // see Advertiser.CreatedAt
}

// Check validates a campaign. field is its path in the input; errors name the part.
func (c *Campaign) Check(field string) error {
	return fault.All(c.checkIDs(field), c.checkParts(field), c.checkPace(field))
}

// CheckDraft validates a new campaign, apart from its ids.
func (c *Campaign) CheckDraft() error { return fault.All(c.checkParts(""), c.checkPace("")) }

// CheckChange validates a changed campaign. It accepts an unsuitable pace that is already stored,
// from before paces were checked: such campaigns can still be paused.
func (c *Campaign) CheckChange(before *Campaign) error {
	wrong := fault.All(c.checkIDs(""), c.checkParts(""))
	if c.Budget == before.Budget && c.Schedule == before.Schedule {
		return wrong
	}
	return fault.All(wrong, c.checkPace(""))
}

func (c *Campaign) checkIDs(field string) error {
	if c.ID.IsZero() {
		return fault.Invalidf(fault.Part(field, "id"), "A campaign needs an id.")
	}
	if c.Advertiser.IsZero() {
		return fault.Invalidf(fault.Part(field, "advertiser"), "A campaign needs an advertiser.")
	}
	return nil
}

func (c *Campaign) checkParts(field string) error {
	var house error
	if c.House && c.Budget != (Budget{}) {
		house = fault.Invalidf(fault.Part(field, "budget"), "House ads cost nothing, so they have no budget: leave it out.")
	}
	return fault.All(
		fault.CheckLine(fault.Part(field, "name"), c.Name, 1, MaxName), c.State.check(fault.Part(field, "state")), c.Schedule.check(fault.Part(field, "schedule")),
		c.Budget.check(fault.Part(field, "budget")), house, checkCaps(fault.Part(field, "caps"), c.Caps),
		c.checkAttribution(fault.Part(field, "attributionDays")),
	)
}

func (c *Campaign) checkPace(field string) error {
	if c.Budget.Even && c.Budget.Daily == 0 && c.Schedule.End.IsZero() {
		return fault.Invalidf(fault.Part(field, "budget.even"), "An even pace needs a daily budget or an end.")
	}
	return nil
}

// AttributionDays returns how many days after its click a conversion counts.
func (c *Campaign) AttributionDays() int {
	if c.Attribution == 0 {
		return DefaultAttribution
	}
	return c.Attribution
}

func (c *Campaign) checkAttribution(field string) error {
	if c.Attribution == 0 {
		return nil
	}
	return CheckAttribution(field, c.Attribution)
}
