package adserver

import (
	"context"
	"time"

	"plaza/ads"
	"plaza/id"
)

// Seen is an impression that a cap counts. One of Unit, Campaign and Advertiser is set: what has
// the cap. None is if that is gone.
type Seen struct {
	Choice     ads.ChoiceID
	Unit       ads.UnitID
	Campaign   ads.CampaignID
	Advertiser ads.AdvertiserID
	At         time.Time
}

// SeenBy returns the impressions that are remembered about a user (see Forget), in any order.
// Choices that were not shown are left out.
func (s *Service) SeenBy(ctx context.Context, user string) ([]Seen, error) {
	key, err := s.signingKey(ctx)
	if err != nil {
		return nil, err
	}
	profile, err := s.store.Profile(ctx, (&Request{User: user}).profile(key))
	if err != nil {
		return nil, present(err)
	}
	now := s.now()
	var seen []Seen
	scopes := map[id.ID]bool{}
	for _, sighting := range profile.Seen {
		if sighting.Until.Equal(sighting.Keep) && sighting.Keep.After(now) {
			seen = append(seen, Seen{Choice: sighting.Choice, At: sighting.At, Unit: ads.UnitID{ID: sighting.Scope}})
			scopes[sighting.Scope] = true
		}
	}
	if len(seen) == 0 {
		return nil, nil
	}
	return seen, present(s.nameScopes(ctx, seen, scopes))
}

// nameScopes finds out what each scope, which is in Unit, is.
func (s *Service) nameScopes(ctx context.Context, seen []Seen, scopes map[id.ID]bool) error {
	var units []ads.UnitID
	var campaigns []ads.CampaignID
	var advertisers []ads.AdvertiserID
	for scope := range scopes {
		units = append(units, ads.UnitID{ID: scope})
		campaigns = append(campaigns, ads.CampaignID{ID: scope})
		advertisers = append(advertisers, ads.AdvertiserID{ID: scope})
	}
	ofUnits, err := s.store.Units(ctx, units)
	if err != nil {
		return err
	}
	ofCampaigns, err := s.store.Campaigns(ctx, campaigns)
	if err != nil {
		return err
	}
	ofAdvertisers, err := s.store.Advertisers(ctx, advertisers)
	if err != nil {
		return err
	}
	for i := range seen {
		one, scope := &seen[i], seen[i].Unit.ID
		one.Unit = ads.UnitID{}
		switch {
		case ofUnits[ads.UnitID{ID: scope}] != nil:
			one.Unit.ID = scope
		case ofCampaigns[ads.CampaignID{ID: scope}] != nil:
			one.Campaign.ID = scope
		case ofAdvertisers[ads.AdvertiserID{ID: scope}] != nil:
			one.Advertiser.ID = scope
		}
	}
	return nil
}
