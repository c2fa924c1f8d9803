package mongodb

import (
	"context"

	"plaza/ads"
)

// Ads returns the ad domain's view of the database. It is valid as long as the Store is.
func (s *Store) Ads() ads.Store { return s.ads }

// ImportAdProfiles stores the profiles that do not exist yet. Pass about a thousand at a time.
func (s *Store) ImportAdProfiles(ctx context.Context, profiles []ads.Profile) error {
	return s.ads.ImportProfiles(ctx, profiles)
}
