package ads

import "plaza/fault"

// MaxName bounds the names of advertisers and campaigns, in characters.
const MaxName = 100

// Advertiser pays for ads.
type Advertiser struct {
	ID   AdvertiserID
	Name string // shown beside the ad; 1 to MaxName characters
	Caps []Cap  // limits that cover all of its ads
	// Revision counts how often it was saved; 0 if it is not stored yet. See Catalogue.Save.
	Revision int
}

func (a *Advertiser) check(field string) error {
	if a.ID.IsZero() {
		return fault.Invalidf(at(field, "id"), "An advertiser needs an id.")
	}
	return fault.All(fault.CheckLine(at(field, "name"), a.Name, 1, MaxName), checkCaps(at(field, "caps"), a.Caps))
}

// at joins a field's path and the name of one of its parts; field may be empty.
func at(field, part string) string {
	if field == "" {
		return part
	}
	return field + "." + part
}
