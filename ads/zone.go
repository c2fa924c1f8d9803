package ads

import (
	"slices"
	"strings"

	"plaza/fault"
)

const (
	// MaxZoneName bounds the names of sites and zones, in bytes.
	MaxZoneName = 64
	// MaxZoneUnits is how many units may be placed in a zone, running or paused: a zone is read as a whole.
	MaxZoneUnits = 1000
)

// ZoneID names a place on the pages of a site. Both names have 1 to MaxZoneName bytes of a–z, 0–9, '.', '-' and '_'.
type ZoneID struct {
	Site string // "example.org"
	Name string // "sidebar"
}

// String is "site/name": no two zones share it, as neither name can hold a slash.
func (z ZoneID) String() string { return z.Site + "/" + z.Name }

// ParseZoneID reads what String writes of names that a zone can have; every other text is an error.
func ParseZoneID(text string) (ZoneID, error) {
	site, name, _ := strings.Cut(text, "/")
	z := ZoneID{Site: site, Name: name}
	if err := z.check("site", "zone"); err != nil {
		return ZoneID{}, err
	}
	return z, nil
}

func (z ZoneID) check(siteField, nameField string) error {
	return fault.All(checkZoneName(siteField, "site", z.Site), checkZoneName(nameField, "zone", z.Name))
}

func checkZoneName(field, what, name string) error {
	if goodZoneName(name) {
		return nil
	}
	return fault.Invalidf(field, "A %s's name has 1 to %d characters, of a–z, 0–9, '.', '-' and '_'.", what, MaxZoneName)
}

func goodZoneName(name string) bool {
	if name == "" || len(name) > MaxZoneName {
		return false
	}
	return strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789.-_") == ""
}

// Design says how units are chosen in a zone. Each one does what those before it do.
type Design string

// The designs.
const (
	ByZone      Design = "ZONE"      // the highest eCPM; units with caps, which nobody counts here, are left out
	ByFrequency Design = "FREQUENCY" // and within the caps
	ByKeywords  Design = "KEYWORDS"  // and the highest score: see Score
)

// Zone is a place on the pages of a site, with the units that run there.
type Zone struct {
	ID       ZoneID
	Currency Currency // all of its units bid in it, so that their bids can be compared
	Design   Design
	Revision int // as Advertiser.Revision
	// Units are those that run here: they and their campaigns are active. The highest ECPM comes first, and those
	// with the same are in the order of their ids. Saving a zone does not read it.
	Units []RunningUnit
}

func (z *Zone) check(field string) error {
	var design error
	if z.Design != ByZone && z.Design != ByFrequency && z.Design != ByKeywords {
		design = fault.Invalidf(at(field, "design"), "A design is ZONE, FREQUENCY or KEYWORDS.")
	}
	return fault.All(z.ID.check(at(field, "site"), at(field, "name")), design, z.Currency.Check(at(field, "currency")))
}

// RunningUnit is what a zone knows of a unit: all that choosing and showing it takes.
type RunningUnit struct {
	Unit         UnitID
	Campaign     CampaignID
	AdvertiserID AdvertiserID
	Advertiser   string // its name
	Creative
	Bid      Bid
	ECPM     Micros // see Unit.ECPM
	Keywords []string
	// KeywordWeights are Unit.KeywordWeights.
	KeywordWeights []KeywordWeight
	Weight         int
	Caps           []ScopeCap // of the unit, its campaign and its advertiser
	Schedule       Schedule
	House          bool
	Limited        bool // the campaign has a budget
	// Attribution is how many days after its click a conversion counts.
	Attribution int
}

// Running makes a zone's copy of a unit.
func Running(u *Unit, c *Campaign, a *Advertiser) RunningUnit {
	return RunningUnit{
		Unit: u.ID, Campaign: c.ID, AdvertiserID: a.ID, Advertiser: a.Name, Creative: u.Creative, Bid: u.Bid, ECPM: u.ECPM(),
		Keywords: u.Keywords, KeywordWeights: u.KeywordWeights, Weight: u.Weight, Schedule: c.Schedule, House: c.House, Limited: c.Budget.Limited(), Attribution: c.AttributionDays(),
		Caps: slices.Concat(scoped(u.ID.ID, u.Caps), scoped(c.ID.ID, c.Caps), scoped(a.ID.ID, a.Caps)),
	}
}

// Compare orders the units of a zone: the higher ECPM first, then by id.
func (r *RunningUnit) Compare(other *RunningUnit) int {
	switch {
	case r.ECPM > other.ECPM:
		return -1
	case r.ECPM < other.ECPM:
		return 1
	default:
		return r.Unit.Compare(other.Unit.ID)
	}
}
