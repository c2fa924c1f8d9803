package ads

import (
	"slices"
	"strings"

	"plaza/fault"
)

const (
	// MaxZoneName limits the names of sites and zones, in bytes.
	MaxZoneName = 64
	// MaxZoneUnits is the most units that can be placed in a zone, running or paused. It is limited
	// because a zone is read as a whole.
	MaxZoneUnits = 1000
)

// ZoneID identifies a place on the pages of a site. Both names have 1 to MaxZoneName bytes of a–z,
// 0–9, '.', '-' and '_'.
type ZoneID struct {
	Site string // "example.org"
	Name string // "sidebar"
}

// String returns "site/name". It is unique, as neither name can contain a slash.
func (z ZoneID) String() string { return z.Site + "/" + z.Name }

// ParseZoneID parses what String returns for valid names; every other text is an error.
func ParseZoneID(text string) (ZoneID, error) {
	site, name, _ := strings.Cut(text, "/")
	z := ZoneID{Site: site, Name: name}
	if err := z.Check("site", "zone"); err != nil {
		return ZoneID{}, err
	}
	return z, nil
}

// Check validates the names of a zone and its site. Errors are for the given fields.
func (z ZoneID) Check(siteField, nameField string) error {
	return fault.All(checkZoneName(siteField, "site", z.Site), checkZoneName(nameField, "zone", z.Name))
}

func checkZoneName(field, what, name string) error {
	if goodZoneName(name) {
		return nil
	}
	return fault.Invalidf(field, "A %s's name must have 1 to %d characters of a–z, 0–9, '.', '-' and '_'.", what, MaxZoneName)
}

func goodZoneName(name string) bool {
	if name == "" || len(name) > MaxZoneName {
		return false
	}
	return strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789.-_") == ""
}

// Design determines how units are chosen in a zone. Each design extends the previous one.
type Design string

// The designs.
const (
	ByZone      Design = "ZONE"      // the highest eCPM; units with caps are left out, because this design does not count them
	ByFrequency Design = "FREQUENCY" // and within the caps
	ByKeywords  Design = "KEYWORDS"  // and the highest score: see Score
)

// Zone is a place on the pages of a site, with the units that run there.
type Zone struct {
	ID       ZoneID
	Currency Currency // the currency of all its units' bids, so that bids are comparable
	Design   Design
	Revision int // see Advertiser.Revision
	// Units are the running ones: they and their campaigns are active. They are sorted by ECPM,
	// highest first, and then by id. Saving a zone ignores them.
	Units []RunningUnit
}

// Check validates a zone. field is its path in the input; errors name the part.
func (z *Zone) Check(field string) error {
	var design error
	if z.Design != ByZone && z.Design != ByFrequency && z.Design != ByKeywords {
		design = fault.Invalidf(fault.Part(field, "design"), "A design must be ZONE, FREQUENCY or KEYWORDS.")
	}
	return fault.All(z.ID.Check(fault.Part(field, "site"), fault.Part(field, "name")), design, z.Currency.Check(fault.Part(field, "currency")))
}

// RunningUnit is a zone's copy of a unit: everything that is needed to choose and show it.
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
	Limited        bool // whether the campaign has a budget
	// CampaignRevision is the campaign's: when it grows, servers stop spending what they have on
	// lease of its earlier budget. It is 0 if an earlier version of Plaza has stored the copy.
	CampaignRevision int
	// Attribution is how many days after its click a conversion counts.
	Attribution int
}

// Running returns a zone's copy of a unit.
func Running(u *Unit, c *Campaign, a *Advertiser) RunningUnit {
	return RunningUnit{
		Unit: u.ID, Campaign: c.ID, AdvertiserID: a.ID, Advertiser: a.Name, Creative: u.Creative, Bid: u.Bid, ECPM: u.ECPM(),
		Keywords: u.Keywords, KeywordWeights: u.KeywordWeights, Weight: u.Weight, Schedule: c.Schedule, House: c.House, Limited: c.Budget.Limited(), CampaignRevision: c.Revision, Attribution: c.AttributionDays(),
		Caps: slices.Concat(scoped(u.ID.ID, u.Caps), scoped(c.ID.ID, c.Caps), scoped(a.ID.ID, a.Caps)),
	}
}

// Compare orders the units of a zone by ECPM, highest first, then by id.
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

// WeightOf returns the highest weight of the given keywords of the unit, or 1 if none has a weight.
func (r *RunningUnit) WeightOf(matched []string) int {
	highest := 1
	for _, w := range r.KeywordWeights {
		if w.Weight > highest && slices.Contains(matched, w.Keyword) {
			highest = w.Weight
		}
	}
	return highest
}
