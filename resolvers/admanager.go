package resolvers

import (
	"context"
	"sync"
	"time"

	"plaza/ads"
	"plaza/ads/adserver"
	"plaza/fault"
	"plaza/graph/model"
	"plaza/id"
	"plaza/social"
)

// mustManageAds is nil for those who have the right. Errors: UNAUTHENTICATED, FORBIDDEN.
func (r *Resolver) mustManageAds(ctx context.Context) error {
	viewer, err := signedIn(ctx)
	if err != nil {
		return err
	}
	return r.Social.RequireRight(ctx, viewer, social.RightManageAds)
}

// AdManager resolves Query.adManager.
func (r queryResolver) AdManager(ctx context.Context) (*model.AdManager, error) {
	if err := r.mustManageAds(ctx); err != nil {
		return nil, err
	}
	return &model.AdManager{}, nil
}

// Advertisers resolves AdManager.advertisers.
func (r adManagerResolver) Advertisers(ctx context.Context, _ *model.AdManager, first *int, after *string, last *int, before *string) (*model.AdvertiserConnection, error) {
	c, err := list[*ads.Advertiser]{cursorsOf(cursorAd, "advertisers"), r.Ads.ListAdvertisers}.connect(ctx, pageArgs{first, after, last, before})
	return connectionOf(c, err, func(a *ads.Advertiser) *model.Advertiser { return &model.Advertiser{Advertiser: a} })
}

// Campaigns resolves AdManager.campaigns.
func (r adManagerResolver) Campaigns(ctx context.Context, _ *model.AdManager, of string, first *int, after *string, last *int, before *string) (*model.AdCampaignConnection, error) {
	advertiser, err := advertiserID("advertiserId", of)
	if err != nil {
		return nil, err
	}
	if _, err := r.Ads.Advertiser(ctx, "advertiserId", advertiser); err != nil {
		return nil, err
	}
	read := func(ctx context.Context, p ads.Page) (ads.Slice[*ads.Campaign], error) {
		return r.Ads.ListCampaigns(ctx, advertiser, p)
	}
	c, err := list[*ads.Campaign]{cursorsOf(cursorAd, "campaigns", advertiser.String()), read}.connect(ctx, pageArgs{first, after, last, before})
	if err != nil {
		return nil, err
	}
	nodes, err := r.wrapCampaigns(ctx, c.items)
	if err != nil {
		return nil, err
	}
	return connection(c, nodes), nil
}

// wrapCampaigns reads what all of them have spent, in one call.
func (r *Resolver) wrapCampaigns(ctx context.Context, campaigns []*ads.Campaign) ([]*model.AdCampaign, error) {
	ids := make([]ads.CampaignID, len(campaigns))
	for i, c := range campaigns {
		ids[i] = c.ID
	}
	ledgers, err := r.Ads.Ledgers(ctx, ids)
	nodes := make([]*model.AdCampaign, len(campaigns))
	for i, c := range campaigns {
		nodes[i] = &model.AdCampaign{Campaign: c, Ledger: ledgers[c.ID]}
	}
	return nodes, err
}

// existingCampaign returns the id of a campaign whose parts are listed. Errors: NOT_FOUND.
func (r adManagerResolver) existingCampaign(ctx context.Context, global string) (ads.CampaignID, error) {
	campaign, err := campaignID("campaignId", global)
	if err != nil {
		return campaign, err
	}
	_, err = r.Ads.Campaign(ctx, "campaignId", campaign)
	return campaign, err
}

// Units resolves AdManager.units.
func (r adManagerResolver) Units(ctx context.Context, _ *model.AdManager, of string, first *int, after *string, last *int, before *string) (*model.AdUnitConnection, error) {
	campaign, err := r.existingCampaign(ctx, of)
	if err != nil {
		return nil, err
	}
	read := func(ctx context.Context, p ads.Page) (ads.Slice[*ads.Unit], error) {
		return r.Ads.ListUnits(ctx, campaign, p)
	}
	c, err := list[*ads.Unit]{cursorsOf(cursorAd, "units", campaign.String()), read}.connect(ctx, pageArgs{first, after, last, before})
	owner := r.ownerOf(ctx, campaign)
	return connectionOf(c, err, func(u *ads.Unit) *model.AdUnit { return &model.AdUnit{Unit: u, Owner: owner} })
}

// ownerOf returns a function that reads a campaign's owner on its first call, and caches it.
func (r *Resolver) ownerOf(ctx context.Context, campaign ads.CampaignID) func() (*adserver.Owner, error) {
	return sync.OnceValues(func() (*adserver.Owner, error) { return r.Ads.Owner(ctx, campaign) })
}

// Zones resolves AdManager.zones.
func (r adManagerResolver) Zones(ctx context.Context, _ *model.AdManager, first *int, after *string, last *int, before *string) (*model.AdZoneConnection, error) {
	c, err := list[*ads.Zone]{cursorsOf(cursorAdZone, "zones"), r.Ads.ListZones}.connect(ctx, pageArgs{first, after, last, before})
	return connectionOf(c, err, func(z *ads.Zone) *model.AdZone { return &model.AdZone{Zone: z} })
}

// Advertiser resolves AdManager.advertiser.
func (r adManagerResolver) Advertiser(ctx context.Context, _ *model.AdManager, text string) (*model.Advertiser, error) {
	parsed, err := advertiserID("id", text)
	if err != nil {
		return nil, err
	}
	return r.loadAdvertiser(ctx, parsed)
}

// Campaign resolves AdManager.campaign.
func (r adManagerResolver) Campaign(ctx context.Context, _ *model.AdManager, text string) (*model.AdCampaign, error) {
	parsed, err := campaignID("id", text)
	if err != nil {
		return nil, err
	}
	return r.loadCampaign(ctx, parsed)
}

// Unit resolves AdManager.unit.
func (r adManagerResolver) Unit(ctx context.Context, _ *model.AdManager, text string) (*model.AdUnit, error) {
	parsed, err := adUnitID("id", text)
	if err != nil {
		return nil, err
	}
	return r.loadAdUnit(ctx, parsed)
}

func (r *Resolver) loadAdvertiser(ctx context.Context, i ads.AdvertiserID) (*model.Advertiser, error) {
	a, err := r.Ads.Advertiser(ctx, "id", i)
	if err != nil {
		return nil, err
	}
	return &model.Advertiser{Advertiser: a}, nil
}

func (r *Resolver) loadCampaign(ctx context.Context, i ads.CampaignID) (*model.AdCampaign, error) {
	c, err := r.Ads.Campaign(ctx, "id", i)
	if err != nil {
		return nil, err
	}
	nodes, err := r.wrapCampaigns(ctx, []*ads.Campaign{c})
	return nodes[0], err
}

func (r *Resolver) loadAdUnit(ctx context.Context, i ads.UnitID) (*model.AdUnit, error) {
	u, err := r.Ads.Unit(ctx, "id", i)
	if err != nil {
		return nil, err
	}
	return &model.AdUnit{Unit: u, Owner: r.ownerOf(ctx, u.Campaign)}, nil
}

func (r *Resolver) loadAdZone(ctx context.Context, i ads.ZoneID) (*model.AdZone, error) {
	z, err := r.Ads.ZoneHead(ctx, i)
	return &model.AdZone{Zone: z}, err
}

// Preview resolves AdUnit.preview.
func (r adUnitResolver) Preview(ctx context.Context, obj *model.AdUnit) (*model.AdChoice, error) {
	owner, err := obj.Owner()
	if err != nil {
		return nil, err
	}
	choice, err := r.Ads.Preview(ctx, obj.Unit, owner)
	if err != nil {
		return nil, err
	}
	return r.wrapChoice(*choice, pageIsAbout), nil
}

// Explain resolves AdManager.explain.
func (r adManagerResolver) Explain(ctx context.Context, _ *model.AdManager, site, zone string, keywords []string, count int, visitor *string) ([]*model.AdCandidate, error) {
	request := adserver.Request{Site: site, Zone: zone, Keywords: keywords, Count: count}
	if visitor != nil {
		request.Visitor = *visitor
	}
	explained, err := r.Ads.Explain(ctx, request)
	candidates := make([]*model.AdCandidate, len(explained))
	for i := range explained {
		candidates[i] = &model.AdCandidate{Explanation: &explained[i]}
	}
	return candidates, err
}

// Report resolves AdManager.report.
func (r adManagerResolver) Report(ctx context.Context, _ *model.AdManager, by ads.Dimension, from, to *time.Time, campaign *string) (*model.AdReport, error) {
	request := ads.ReportRequest{By: by, To: time.Now().UTC().Truncate(time.Hour).Add(time.Hour)}
	set(&request.To, to)
	request.From = request.To.Add(-24 * time.Hour)
	set(&request.From, from)
	if campaign != nil {
		var err error
		if request.Campaign, err = campaignID("campaignId", *campaign); err != nil {
			return nil, err
		}
	}
	rows, err := r.Ads.Report(ctx, request)
	return &model.AdReport{By: by, Lines: rows}, err
}

// saveAd makes one change for users with the right, and then reads what was changed.
func saveAd[ID, T any](ctx context.Context, r *Resolver, load func(context.Context, ID) (*T, error), do func() (ID, error)) (saved *T, mistakes []*model.UserError, err error) {
	if err := r.mustManageAds(ctx); err != nil {
		return nil, nil, err
	}
	changed, err := do()
	mistakes, err = userErrors(ctx, err)
	if err != nil || len(mistakes) > 0 {
		return nil, mistakes, err
	}
	saved, err = load(ctx, changed)
	return saved, mistakes, err
}

// CreateAdvertiser resolves Mutation.createAdvertiser.
func (r mutationResolver) CreateAdvertiser(ctx context.Context, input model.CreateAdvertiserInput) (*model.CreateAdvertiserPayload, error) {
	saved, mistakes, err := saveAd(ctx, r.Resolver, r.loadAdvertiser, func() (ads.AdvertiserID, error) {
		a := ads.Advertiser{ID: ads.AdvertiserID{ID: id.New()}, Name: input.Name, Caps: capsOf(input.Caps)}
		return a.ID, r.Resolver.Ads.CreateAdvertiser(ctx, a)
	})
	return &model.CreateAdvertiserPayload{Advertiser: saved, UserErrors: mistakes}, err
}

// UpdateAdvertiser resolves Mutation.updateAdvertiser.
func (r mutationResolver) UpdateAdvertiser(ctx context.Context, input model.UpdateAdvertiserInput) (*model.UpdateAdvertiserPayload, error) {
	saved, mistakes, err := saveAd(ctx, r.Resolver, r.loadAdvertiser, func() (ads.AdvertiserID, error) {
		i, err := advertiserID("advertiserId", input.AdvertiserID)
		if err != nil {
			return i, err
		}
		return i, at("advertiserId", r.Resolver.Ads.UpdateAdvertiser(ctx, i, func(a *ads.Advertiser) {
			set(&a.Name, input.Name)
			setList(&a.Caps, input.Caps, capsOf)
		}))
	})
	return &model.UpdateAdvertiserPayload{Advertiser: saved, UserErrors: mistakes}, err
}

// CreateAdCampaign resolves Mutation.createAdCampaign.
func (r mutationResolver) CreateAdCampaign(ctx context.Context, input model.CreateAdCampaignInput) (*model.CreateAdCampaignPayload, error) {
	saved, mistakes, err := saveAd(ctx, r.Resolver, r.loadCampaign, func() (ads.CampaignID, error) {
		c := ads.Campaign{
			ID: ads.CampaignID{ID: id.New()}, Name: input.Name, State: ads.Active, House: input.IsHouse, Caps: capsOf(input.Caps),
		}
		err := fault.All(
			setID(&c.Advertiser, "advertiserId", &input.AdvertiserID, advertiserID), setTerms(&c, input.Schedule, input.Budget),
			setAttribution(&c, &input.AttributionDays),
		)
		if err != nil {
			return c.ID, fault.All(err, c.CheckDraft())
		}
		return c.ID, r.Resolver.Ads.CreateCampaign(ctx, c)
	})
	return &model.CreateAdCampaignPayload{Campaign: saved, UserErrors: mistakes}, err
}

// UpdateAdCampaign resolves Mutation.updateAdCampaign.
func (r mutationResolver) UpdateAdCampaign(ctx context.Context, input model.UpdateAdCampaignInput) (*model.UpdateAdCampaignPayload, error) {
	saved, mistakes, err := saveAd(ctx, r.Resolver, r.loadCampaign, func() (ads.CampaignID, error) {
		i, err := campaignID("campaignId", input.CampaignID)
		if err != nil {
			return i, fault.All(err, setTerms(&ads.Campaign{}, input.Schedule, input.Budget), setAttribution(&ads.Campaign{}, input.AttributionDays))
		}
		return i, at("campaignId", r.Resolver.Ads.UpdateCampaign(ctx, i, func(c *ads.Campaign) error {
			set(&c.Name, input.Name)
			setList(&c.Caps, input.Caps, capsOf)
			return fault.All(setTerms(c, input.Schedule, input.Budget), setAttribution(c, input.AttributionDays))
		}))
	})
	return &model.UpdateAdCampaignPayload{Campaign: saved, UserErrors: mistakes}, err
}

// SetAdCampaignState resolves Mutation.setAdCampaignState.
func (r mutationResolver) SetAdCampaignState(ctx context.Context, input model.SetAdCampaignStateInput) (*model.SetAdCampaignStatePayload, error) {
	saved, mistakes, err := saveAd(ctx, r.Resolver, r.loadCampaign, func() (ads.CampaignID, error) {
		i, err := campaignID("campaignId", input.CampaignID)
		if err != nil {
			return i, err
		}
		return i, at("campaignId", r.Resolver.Ads.SetCampaignState(ctx, i, input.State))
	})
	return &model.SetAdCampaignStatePayload{Campaign: saved, UserErrors: mistakes}, err
}

// CreateAdZone resolves Mutation.createAdZone.
func (r mutationResolver) CreateAdZone(ctx context.Context, input model.CreateAdZoneInput) (*model.CreateAdZonePayload, error) {
	saved, mistakes, err := saveAd(ctx, r.Resolver, r.loadAdZone, func() (ads.ZoneID, error) {
		z := ads.Zone{ID: ads.ZoneID{Site: input.Site, Name: input.Zone}, Currency: ads.Currency(input.Currency), Design: input.Design}
		return z.ID, r.Resolver.Ads.CreateZone(ctx, z)
	})
	return &model.CreateAdZonePayload{Zone: saved, UserErrors: mistakes}, err
}

// UpdateAdZone resolves Mutation.updateAdZone.
func (r mutationResolver) UpdateAdZone(ctx context.Context, input model.UpdateAdZoneInput) (*model.UpdateAdZonePayload, error) {
	saved, mistakes, err := saveAd(ctx, r.Resolver, r.loadAdZone, func() (ads.ZoneID, error) {
		zone := ads.ZoneID{Site: input.Site, Name: input.Zone}
		return zone, r.Resolver.Ads.UpdateZone(ctx, zone, input.Design)
	})
	return &model.UpdateAdZonePayload{Zone: saved, UserErrors: mistakes}, err
}

// CreateAdUnit resolves Mutation.createAdUnit.
func (r mutationResolver) CreateAdUnit(ctx context.Context, input model.CreateAdUnitInput) (*model.CreateAdUnitPayload, error) {
	saved, mistakes, err := saveAd(ctx, r.Resolver, r.loadAdUnit, func() (ads.UnitID, error) {
		u := ads.Unit{
			ID: ads.UnitID{ID: id.New()}, State: ads.Active, Bid: bidOf(input.Bid), Zones: placesOf(input.Zones), Caps: capsOf(input.Caps),
			Creative: ads.Creative{Headline: input.Headline, Body: input.Body, LandingURL: input.LandingURL},
		}
		set(&u.ImageURL, input.ImageURL)
		var malformed, weightless error
		malformed = setKeywords(&u, input.Keywords, input.KeywordWeights)
		u.Weight, weightless = weightOf(input.Weight)
		if err := fault.All(setID(&u.Campaign, "campaignId", &input.CampaignID, campaignID), malformed, weightless); err != nil {
			return u.ID, fault.All(err, u.CheckDraft())
		}
		return u.ID, r.Resolver.Ads.CreateUnit(ctx, u)
	})
	return &model.CreateAdUnitPayload{Unit: saved, UserErrors: mistakes}, err
}

// UpdateAdUnit resolves Mutation.updateAdUnit.
func (r mutationResolver) UpdateAdUnit(ctx context.Context, input model.UpdateAdUnitInput) (*model.UpdateAdUnitPayload, error) {
	saved, mistakes, err := saveAd(ctx, r.Resolver, r.loadAdUnit, func() (ads.UnitID, error) {
		i, err := adUnitID("unitId", input.UnitID)
		weight, weightless := weightOf(input.Weight.Value())
		if err != nil {
			_, malformed := ads.NormalKeywords("keywords", input.Keywords)
			return i, fault.All(err, malformed, weightless)
		}
		return i, at("unitId", r.Resolver.Ads.UpdateUnit(ctx, i, func(u *ads.Unit) error {
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
func (r mutationResolver) SetAdUnitState(ctx context.Context, input model.SetAdUnitStateInput) (*model.SetAdUnitStatePayload, error) {
	saved, mistakes, err := saveAd(ctx, r.Resolver, r.loadAdUnit, func() (ads.UnitID, error) {
		i, err := adUnitID("unitId", input.UnitID)
		if err != nil {
			return i, err
		}
		return i, at("unitId", r.Resolver.Ads.UpdateUnit(ctx, i, func(u *ads.Unit) error { u.State = input.State; return nil }))
	})
	return &model.SetAdUnitStatePayload{Unit: saved, UserErrors: mistakes}, err
}

// at sets the argument at fault if the error does not name one.
func at(argument string, err error) error {
	mistake, ok := err.(*fault.Error) //nolint:errorlint // of the service's own, and no cause of another one
	if ok && mistake.Code == fault.CodeNotFound && mistake.Field == "" {
		mistake.Field = argument
	}
	return err
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

// set changes a field if a value was given.
func set[T any](to, given *T) {
	if given != nil {
		*to = *given
	}
}

func setList[T, G any](to *[]T, given []G, read func([]G) []T) {
	if given != nil {
		*to = read(given)
	}
}

func capsOf(given []*model.AdCapInput) []ads.Cap {
	var caps []ads.Cap
	for _, c := range given {
		caps = append(caps, ads.Cap{Count: c.Count, Per: c.Per})
	}
	return caps
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

// setAttribution changes how many days after a click conversions count. Error: INVALID.
func setAttribution(c *ads.Campaign, days *int) error {
	if days == nil {
		return nil
	}
	if err := ads.CheckAttribution("attributionDays", *days); err != nil {
		return err
	}
	c.Attribution = *days
	return nil
}

// setTerms changes the schedule and the budget of a campaign. Error: INVALID.
func setTerms(c *ads.Campaign, schedule *model.AdScheduleInput, budget *model.AdBudgetInput) error {
	return fault.All(setSchedule(c, schedule), setBudget(c, budget))
}

func setSchedule(c *ads.Campaign, schedule *model.AdScheduleInput) error {
	if schedule == nil {
		return nil
	}
	c.Schedule = ads.Schedule{TimeZone: schedule.TimeZone, Weekdays: ads.On(schedule.Weekdays...)}
	set(&c.Schedule.Start, schedule.Start)
	set(&c.Schedule.End, schedule.End)
	if schedule.FromHour != 0 || schedule.ToHour != 24 {
		c.Schedule.FromHour, c.Schedule.ToHour = schedule.FromHour, schedule.ToHour
	}
	if schedule.FromHour == 0 && schedule.ToHour == 0 {
		return fault.Invalidf("schedule.toHour", "The end hour must be later than the start hour, and 24 at most.")
	}
	return nil
}

func setBudget(c *ads.Campaign, budget *model.AdBudgetInput) error {
	if budget == nil {
		return nil
	}
	c.Budget = ads.Budget{}
	if err := fault.All(atLeastOne("budget.total", budget.Total), atLeastOne("budget.daily", budget.Daily)); err != nil {
		return fault.All(err, ads.Currency(budget.Currency).Check("budget.currency"))
	}
	if budget.Total == nil && budget.Daily == nil {
		return checkUnlimited(budget)
	}
	c.Budget = ads.Budget{Currency: ads.Currency(budget.Currency), Even: budget.Even}
	set(&c.Budget.Total, budget.Total)
	set(&c.Budget.Daily, budget.Daily)
	return nil
}

func atLeastOne(field string, amount *ads.Micros) error {
	if amount != nil && *amount < 1 {
		return fault.Invalidf(field, "A budget must be 1 to %d micros.", ads.MaxBid)
	}
	return nil
}

// checkUnlimited validates a budget without any amount.
func checkUnlimited(budget *model.AdBudgetInput) error {
	var even error
	if budget.Even {
		even = fault.Invalidf("budget.even", "There is no budget to spread.")
	}
	return fault.All(even, ads.Currency(budget.Currency).Check("budget.currency"))
}
