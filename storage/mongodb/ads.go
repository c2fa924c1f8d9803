package mongodb

import (
	"context"

	"plaza/ads"
)

// Ads is the database as the ad domain sees it. It lives as long as the Store does.
func (s *Store) Ads() ads.Store { return s.ads }

// ImportAdProfiles stores profiles that there are not yet, a thousand or so at a time.
func (s *Store) ImportAdProfiles(ctx context.Context, profiles []ads.Profile) error {
	return s.ads.ImportProfiles(ctx, profiles)
}
