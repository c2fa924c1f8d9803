package advertising

import (
	"context"

	"plaza/ads"
	"plaza/graph/model"
	"plaza/graph/relay"
)

// Zones resolves AdManager.zones.
func (r Manager) Zones(ctx context.Context, _ *model.AdManager, first *int, after *string, last *int, before *string) (*model.AdZoneConnection, error) {
	list := relay.ListOf(relay.CursorsOf(relay.KindAdZone, "zones"), r.Server.ListZones)
	return relay.Connect(ctx, list, relay.ArgsOf(first, after, last, before), func(z *ads.Zone) *model.AdZone { return &model.AdZone{Zone: z} })
}

func (r *Resolver) loadAdZone(ctx context.Context, i ads.ZoneID) (*model.AdZone, error) {
	z, err := r.Server.ZoneHead(ctx, i)
	return &model.AdZone{Zone: z}, err
}

// CreateAdZone resolves Mutation.createAdZone.
func (r Mutation) CreateAdZone(ctx context.Context, input model.CreateAdZoneInput) (*model.CreateAdZonePayload, error) {
	saved, mistakes, err := saveAd(ctx, r.Resolver, r.loadAdZone, func() (ads.ZoneID, error) {
		z := ads.Zone{ID: ads.ZoneID{Site: input.Site, Name: input.Zone}, Currency: ads.Currency(input.Currency), Design: input.Design}
		return z.ID, r.Server.CreateZone(ctx, z)
	})
	return &model.CreateAdZonePayload{Zone: saved, UserErrors: mistakes}, err
}

// UpdateAdZone resolves Mutation.updateAdZone.
func (r Mutation) UpdateAdZone(ctx context.Context, input model.UpdateAdZoneInput) (*model.UpdateAdZonePayload, error) {
	saved, mistakes, err := saveAd(ctx, r.Resolver, r.loadAdZone, func() (ads.ZoneID, error) {
		zone := ads.ZoneID{Site: input.Site, Name: input.Zone}
		return zone, r.Server.UpdateZone(ctx, zone, input.Design)
	})
	return &model.UpdateAdZonePayload{Zone: saved, UserErrors: mistakes}, err
}
