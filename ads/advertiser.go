package ads

import (
	"time"

	"plaza/fault"
)

// MaxName bounds the names of advertisers and campaigns, in characters.
const MaxName = 100

// Advertiser pays for ads.
type Advertiser struct {
	ID   AdvertiserID
	Name string // shown beside the ad; 1 to MaxName characters
	Caps []Cap  // limits that cover all of its ads
	// Revision counts how often it was saved; 0 if it is not stored yet. See Catalogue.Save.
	Revision int
	// CreatedAt is when it was created: see Creation. Saving it never changes it, except from the
	// time of an id that has none.
	CreatedAt time.Time
}

// Check validates an advertiser. field is its path in the input; errors name the part.
func (a *Advertiser) Check(field string) error {
	if a.ID.IsZero() {
		return fault.Invalidf(fault.Part(field, "id"), "An advertiser needs an id.")
	}
	return fault.All(fault.CheckLine(fault.Part(field, "name"), a.Name, 1, MaxName), checkCaps(fault.Part(field, "caps"), a.Caps))
}
