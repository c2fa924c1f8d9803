package ads

import (
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
	if !goodZoneName(z.Site) {
		return badZoneName(siteField, "site")
	}
	if !goodZoneName(z.Name) {
		return badZoneName(nameField, "zone")
	}
	return nil
}

func badZoneName(field, what string) error {
	return fault.Invalidf(field, "A %s's name has 1 to %d characters, of a–z, 0–9, '.', '-' and '_'.", what, MaxZoneName)
}

func goodZoneName(name string) bool {
	if name == "" || len(name) > MaxZoneName {
		return false
	}
	return strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789.-_") == ""
}

// Zone is a place on the pages of a site, with the units that run there.
type Zone struct {
	ID       ZoneID
	Currency Currency // all of its units bid in it, so that their bids can be compared
	// Units are those that run here: of campaigns that are not paused. The highest ECPM comes first, and those
	// with the same are in the order of their ids. Adding a zone does not read it.
	Units []RunningUnit
}

func (z *Zone) check(field string) error {
	if err := z.ID.check(field+".site", field+".name"); err != nil {
		return err
	}
	return z.Currency.check(field + ".currency")
}

// RunningUnit is what a zone knows of a unit: all that showing it takes, and what its place in the order rests on.
type RunningUnit struct {
	Unit       UnitID
	Campaign   CampaignID
	Advertiser string // its name
	Creative
	ECPM Micros // see Unit.ECPM
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
