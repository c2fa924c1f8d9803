package advertising

import (
	"context"

	"plaza/ads"
	"plaza/graph/model"
	"plaza/graph/relay"
	"plaza/id"
)

// Advertisers resolves AdManager.advertisers.
func (r Manager) Advertisers(ctx context.Context, _ *model.AdManager, first *int, after *string, last *int, before *string) (*model.AdvertiserConnection, error) {
	list := relay.ListOf(relay.CursorsOf(relay.KindAd, "advertisers"), r.Server.ListAdvertisers)
	return relay.Connect(ctx, list, relay.ArgsOf(first, after, last, before), func(a *ads.Advertiser) *model.Advertiser { return &model.Advertiser{Advertiser: a} })
}

// Advertiser resolves AdManager.advertiser.
func (r Manager) Advertiser(ctx context.Context, _ *model.AdManager, text string) (*model.Advertiser, error) {
	parsed, err := relay.AdvertiserID("id", text)
	if err != nil {
		return nil, err
	}
	return r.loadAdvertiser(ctx, parsed)
}

// AdvertisersByID reads advertisers; the map omits those that do not exist. Errors of this and of
// similar functions: those of mustManageAds.
func (r *Resolver) AdvertisersByID(ctx context.Context, ids []ads.AdvertiserID) (map[ads.AdvertiserID]*model.Advertiser, error) {
	if err := r.mustManageAds(ctx); err != nil {
		return nil, err
	}
	found, err := r.Server.Advertisers(ctx, ids)
	wrapped := make(map[ads.AdvertiserID]*model.Advertiser, len(found))
	for id, a := range found {
		wrapped[id] = &model.Advertiser{Advertiser: a}
	}
	return wrapped, err
}

func (r *Resolver) loadAdvertiser(ctx context.Context, i ads.AdvertiserID) (*model.Advertiser, error) {
	a, err := r.Server.Advertiser(ctx, "id", i)
	if err != nil {
		return nil, err
	}
	return &model.Advertiser{Advertiser: a}, nil
}

// CreateAdvertiser resolves Mutation.createAdvertiser.
func (r Mutation) CreateAdvertiser(ctx context.Context, input model.CreateAdvertiserInput) (*model.CreateAdvertiserPayload, error) {
	saved, mistakes, err := saveAd(ctx, r.Resolver, r.loadAdvertiser, func() (ads.AdvertiserID, error) {
		a := ads.Advertiser{ID: ads.AdvertiserID{ID: id.New()}, Name: input.Name, Caps: capsOf(input.Caps)}
		return a.ID, r.Server.CreateAdvertiser(ctx, a)
	})
	return &model.CreateAdvertiserPayload{Advertiser: saved, UserErrors: mistakes}, err
}

// UpdateAdvertiser resolves Mutation.updateAdvertiser.
func (r Mutation) UpdateAdvertiser(ctx context.Context, input model.UpdateAdvertiserInput) (*model.UpdateAdvertiserPayload, error) {
	saved, mistakes, err := saveAd(ctx, r.Resolver, r.loadAdvertiser, func() (ads.AdvertiserID, error) {
		i, err := relay.AdvertiserID("advertiserId", input.AdvertiserID)
		if err != nil {
			return i, err
		}
		return i, at("advertiserId", r.Server.UpdateAdvertiser(ctx, i, func(a *ads.Advertiser) {
			set(&a.Name, input.Name)
			setList(&a.Caps, input.Caps, capsOf)
		}))
	})
	return &model.UpdateAdvertiserPayload{Advertiser: saved, UserErrors: mistakes}, err
}
