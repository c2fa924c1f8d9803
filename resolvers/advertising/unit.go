package advertising

import (
	"context"
	"sync"

	"plaza/ads"
	"plaza/ads/adserver"
	"plaza/fault"
	"plaza/graph/model"
	"plaza/graph/relay"
	"plaza/id"
)

// Units resolves AdManager.units.
func (r Manager) Units(ctx context.Context, _ *model.AdManager, of string, first *int, after *string, last *int, before *string) (*model.AdUnitConnection, error) {
	campaign, err := r.existingCampaign(ctx, of)
	if err != nil {
		return nil, err
	}
	read := func(ctx context.Context, p ads.Page) (ads.Slice[*ads.Unit], error) {
		return r.Server.ListUnits(ctx, campaign, p)
	}
	owners := r.ownersOf(ctx, campaign)
	list := relay.ListOf(relay.CursorsOf(relay.KindAd, "units", campaign.String()), read)
	return relay.Connect(ctx, list, relay.ArgsOf(first, after, last, before), func(u *ads.Unit) *model.AdUnit { return &model.AdUnit{Unit: u, Owners: owners} })
}

// ownersOf returns a function that reads the owners of all these campaigns on its first call, and
// caches them. Its error: NOT_FOUND.
func (r *Resolver) ownersOf(ctx context.Context, campaigns ...ads.CampaignID) func(ads.CampaignID) (*adserver.Owner, error) {
	read := sync.OnceValues(func() (map[ads.CampaignID]*adserver.Owner, error) { return r.Server.Owners(ctx, campaigns) })
	return func(campaign ads.CampaignID) (*adserver.Owner, error) {
		owners, err := read()
		if err == nil && owners[campaign] == nil {
			err = fault.NotFound("", "campaign")
		}
		return owners[campaign], err
	}
}

// UnitsByID reads ads; the map omits those that do not exist.
func (r *Resolver) UnitsByID(ctx context.Context, ids []ads.UnitID) (map[ads.UnitID]*model.AdUnit, error) {
	if err := r.mustManageAds(ctx); err != nil {
		return nil, err
	}
	found, err := r.Server.Units(ctx, ids)
	if err != nil {
		return nil, err
	}
	var campaigns []ads.CampaignID
	for _, u := range found {
		campaigns = append(campaigns, u.Campaign)
	}
	owners := r.ownersOf(ctx, campaigns...)
	wrapped := make(map[ads.UnitID]*model.AdUnit, len(found))
	for id, u := range found {
		wrapped[id] = &model.AdUnit{Unit: u, Owners: owners}
	}
	return wrapped, nil
}

// Unit resolves AdManager.unit.
func (r Manager) Unit(ctx context.Context, _ *model.AdManager, text string) (*model.AdUnit, error) {
	parsed, err := relay.AdUnitID("id", text)
	if err != nil {
		return nil, err
	}
	return r.loadAdUnit(ctx, parsed)
}

func (r *Resolver) loadAdUnit(ctx context.Context, i ads.UnitID) (*model.AdUnit, error) {
	u, err := r.Server.Unit(ctx, "id", i)
	if err != nil {
		return nil, err
	}
	return &model.AdUnit{Unit: u, Owners: r.ownersOf(ctx, u.Campaign)}, nil
}

// Preview resolves AdUnit.preview.
func (r Unit) Preview(ctx context.Context, obj *model.AdUnit) (*model.AdChoice, error) {
	owner, err := obj.Owners(obj.Campaign)
	if err != nil {
		return nil, err
	}
	choice, err := r.Server.Preview(ctx, obj.Unit, owner)
	if err != nil {
		return nil, err
	}
	return r.wrapChoice(*choice, pageIsAbout), nil
}

// CreateAdUnit resolves Mutation.createAdUnit.
func (r Mutation) CreateAdUnit(ctx context.Context, input model.CreateAdUnitInput) (*model.CreateAdUnitPayload, error) {
	saved, mistakes, err := saveAd(ctx, r.Resolver, r.loadAdUnit, func() (ads.UnitID, error) {
		u := ads.Unit{
			ID: ads.UnitID{ID: id.New()}, State: ads.Active, Bid: bidOf(input.Bid), Zones: placesOf(input.Zones), Caps: capsOf(input.Caps),
			Creative: ads.Creative{Headline: input.Headline, Body: input.Body, LandingURL: input.LandingURL},
		}
		set(&u.ImageURL, input.ImageURL)
		var malformed, weightless error
		malformed = setKeywords(&u, input.Keywords, input.KeywordWeights)
		u.Weight, weightless = weightOf(input.Weight)
		if err := fault.All(relay.SetID(&u.Campaign, "campaignId", &input.CampaignID, relay.CampaignID), malformed, weightless); err != nil {
			return u.ID, fault.All(err, u.CheckDraft())
		}
		return u.ID, r.Server.CreateUnit(ctx, u)
	})
	return &model.CreateAdUnitPayload{Unit: saved, UserErrors: mistakes}, err
}

// UpdateAdUnit resolves Mutation.updateAdUnit.
func (r Mutation) UpdateAdUnit(ctx context.Context, input model.UpdateAdUnitInput) (*model.UpdateAdUnitPayload, error) {
	saved, mistakes, err := saveAd(ctx, r.Resolver, r.loadAdUnit, func() (ads.UnitID, error) {
		i, err := relay.AdUnitID("unitId", input.UnitID)
		weight, weightless := weightOf(input.Weight.Value())
		if err != nil {
			_, malformed := ads.NormalKeywords("keywords", input.Keywords)
			return i, fault.All(err, malformed, weightless)
		}
		return i, at("unitId", r.Server.UpdateUnit(ctx, i, func(u *ads.Unit) error {
			set(&u.Headline, input.Headline)
			set(&u.Body, input.Body)
			set(&u.ImageURL, input.ImageURL)
			set(&u.LandingURL, input.LandingURL)
			if input.Weight.IsSet() {
				u.Weight = weight
			}
			if input.Bid != nil {
				u.Bid = bidOf(input.Bid)
			}
			setList(&u.Caps, input.Caps, capsOf)
			setList(&u.Zones, input.Zones, placesOf)
			return fault.All(setKeywords(u, input.Keywords, input.KeywordWeights), weightless)
		}))
	})
	return &model.UpdateAdUnitPayload{Unit: saved, UserErrors: mistakes}, err
}

// SetAdUnitState resolves Mutation.setAdUnitState.
func (r Mutation) SetAdUnitState(ctx context.Context, input model.SetAdUnitStateInput) (*model.SetAdUnitStatePayload, error) {
	saved, mistakes, err := saveAd(ctx, r.Resolver, r.loadAdUnit, func() (ads.UnitID, error) {
		i, err := relay.AdUnitID("unitId", input.UnitID)
		if err != nil {
			return i, err
		}
		return i, at("unitId", r.Server.UpdateUnit(ctx, i, func(u *ads.Unit) error { u.State = input.State; return nil }))
	})
	return &model.SetAdUnitStatePayload{Unit: saved, UserErrors: mistakes}, err
}

// weightOf returns the weight that was given, or 0 if none was.
func weightOf(given *int) (int, error) {
	if given == nil {
		return 0, nil
	}
	return *given, ads.CheckWeight("weight", *given)
}

// setKeywords sets a unit's keywords and their weights, where they are given.
func setKeywords(u *ads.Unit, keywords []string, weights []*model.AdKeywordWeightInput) error {
	if keywords != nil {
		normal, err := ads.NormalKeywords("keywords", keywords)
		if err != nil {
			return err
		}
		u.SetKeywords(normal)
	}
	if weights == nil {
		return nil
	}
	given := make([]ads.KeywordWeight, len(weights))
	for i, w := range weights {
		given[i] = ads.KeywordWeight{Keyword: w.Keyword, Weight: w.Weight}
	}
	normal, err := ads.NormalKeywordWeights("keywordWeights", u.Keywords, given)
	if err == nil {
		u.KeywordWeights = normal
	}
	return err
}

func placesOf(given []*model.AdPlacementInput) []ads.ZoneID {
	var zones []ads.ZoneID
	for _, z := range given {
		zones = append(zones, ads.ZoneID{Site: z.Site, Name: z.Zone})
	}
	return zones
}

func bidOf(given *model.AdBidInput) ads.Bid {
	return ads.Bid{Model: given.Model, Price: given.Price, Currency: ads.Currency(given.Currency)}
}
