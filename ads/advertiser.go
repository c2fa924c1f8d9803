package ads

import "plaza/fault"

// MaxName bounds the names of advertisers and campaigns, in characters.
const MaxName = 100

// Advertiser is who pays for ads.
type Advertiser struct {
	ID   AdvertiserID
	Name string // shown beside the ad; 1 to MaxName characters
}

func (a *Advertiser) check(field string) error {
	if a.ID.IsZero() {
		return fault.Invalidf(field+".id", "An advertiser needs an id.")
	}
	return fault.CheckLine(field+".name", a.Name, 1, MaxName)
}
