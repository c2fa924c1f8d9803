package advertising

import (
	"context"
	"maps"
	"slices"

	"plaza/ads"
	"plaza/fault"
	"plaza/graph/model"
	"plaza/graph/relay"
	"plaza/id"
)

// Campaigns resolves AdManager.campaigns.
func (r Manager) Campaigns(ctx context.Context, _ *model.AdManager, of string, first *int, after *string, last *int, before *string) (*model.AdCampaignConnection, error) {
	advertiser, err := relay.AdvertiserID("advertiserId", of)
	if err != nil {
		return nil, err
	}
	if _, err := r.Server.Advertiser(ctx, "advertiserId", advertiser); err != nil {
		return nil, err
	}
	read := func(ctx context.Context, p ads.Page) (ads.Slice[*ads.Campaign], error) {
		return r.Server.ListCampaigns(ctx, advertiser, p)
	}
	page, err := relay.ListOf(relay.CursorsOf(relay.KindAd, "campaigns", advertiser.String()), read).Page(ctx, relay.ArgsOf(first, after, last, before))
	if err != nil {
		return nil, err
	}
	nodes, err := r.wrapCampaigns(ctx, page.Items)
	if err != nil {
		return nil, err
	}
	return relay.Connection(page, nodes), nil
}

// wrapCampaigns reads what all of them have spent, in one call.
func (r *Resolver) wrapCampaigns(ctx context.Context, campaigns []*ads.Campaign) ([]*model.AdCampaign, error) {
	ids := make([]ads.CampaignID, len(campaigns))
	for i, c := range campaigns {
		ids[i] = c.ID
	}
	ledgers, err := r.Server.Ledgers(ctx, ids)
	nodes := make([]*model.AdCampaign, len(campaigns))
	for i, c := range campaigns {
		nodes[i] = &model.AdCampaign{Campaign: c, Ledger: ledgers[c.ID], Now: r.Server.Now()}
	}
	return nodes, err
}

// CampaignsByID reads campaigns; the map omits those that do not exist.
func (r *Resolver) CampaignsByID(ctx context.Context, ids []ads.CampaignID) (map[ads.CampaignID]*model.AdCampaign, error) {
	if err := r.mustManageAds(ctx); err != nil {
		return nil, err
	}
	found, err := r.Server.Campaigns(ctx, ids)
	if err != nil {
		return nil, err
	}
	nodes, err := r.wrapCampaigns(ctx, slices.Collect(maps.Values(found)))
	wrapped := make(map[ads.CampaignID]*model.AdCampaign, len(found))
	for _, c := range nodes {
		wrapped[c.ID] = c
	}
	return wrapped, err
}

// existingCampaign returns the id of a campaign whose parts are listed. Errors: NOT_FOUND.
func (r *Resolver) existingCampaign(ctx context.Context, global string) (ads.CampaignID, error) {
	campaign, err := relay.CampaignID("campaignId", global)
	if err != nil {
		return campaign, err
	}
	_, err = r.Server.Campaign(ctx, "campaignId", campaign)
	return campaign, err
}

// Campaign resolves AdManager.campaign.
func (r Manager) Campaign(ctx context.Context, _ *model.AdManager, text string) (*model.AdCampaign, error) {
	parsed, err := relay.CampaignID("id", text)
	if err != nil {
		return nil, err
	}
	return r.loadCampaign(ctx, parsed)
}

func (r *Resolver) loadCampaign(ctx context.Context, i ads.CampaignID) (*model.AdCampaign, error) {
	c, err := r.Server.Campaign(ctx, "id", i)
	if err != nil {
		return nil, err
	}
	nodes, err := r.wrapCampaigns(ctx, []*ads.Campaign{c})
	return nodes[0], err
}

// CreateAdCampaign resolves Mutation.createAdCampaign.
func (r Mutation) CreateAdCampaign(ctx context.Context, input model.CreateAdCampaignInput) (*model.CreateAdCampaignPayload, error) {
	saved, mistakes, err := saveAd(ctx, r.Resolver, r.loadCampaign, func() (ads.CampaignID, error) {
		c := ads.Campaign{
			ID: ads.CampaignID{ID: id.New()}, Name: input.Name, State: ads.Active, House: input.IsHouse, Caps: capsOf(input.Caps),
		}
		err := fault.All(
			relay.SetID(&c.Advertiser, "advertiserId", &input.AdvertiserID, relay.AdvertiserID), setTerms(&c, input.Schedule, input.Budget),
			setAttribution(&c, &input.AttributionDays),
		)
		if err != nil {
			return c.ID, fault.All(err, c.CheckDraft())
		}
		return c.ID, r.Server.CreateCampaign(ctx, c)
	})
	return &model.CreateAdCampaignPayload{Campaign: saved, UserErrors: mistakes}, err
}

// UpdateAdCampaign resolves Mutation.updateAdCampaign.
func (r Mutation) UpdateAdCampaign(ctx context.Context, input model.UpdateAdCampaignInput) (*model.UpdateAdCampaignPayload, error) {
	saved, mistakes, err := saveAd(ctx, r.Resolver, r.loadCampaign, func() (ads.CampaignID, error) {
		i, err := relay.CampaignID("campaignId", input.CampaignID)
		if err != nil {
			return i, fault.All(err, setTerms(&ads.Campaign{}, input.Schedule, input.Budget), setAttribution(&ads.Campaign{}, input.AttributionDays))
		}
		return i, at("campaignId", r.Server.UpdateCampaign(ctx, i, func(c *ads.Campaign) error {
			set(&c.Name, input.Name)
			setList(&c.Caps, input.Caps, capsOf)
			return fault.All(setTerms(c, input.Schedule, input.Budget), setAttribution(c, input.AttributionDays))
		}))
	})
	return &model.UpdateAdCampaignPayload{Campaign: saved, UserErrors: mistakes}, err
}

// SetAdCampaignState resolves Mutation.setAdCampaignState.
func (r Mutation) SetAdCampaignState(ctx context.Context, input model.SetAdCampaignStateInput) (*model.SetAdCampaignStatePayload, error) {
	saved, mistakes, err := saveAd(ctx, r.Resolver, r.loadCampaign, func() (ads.CampaignID, error) {
		i, err := relay.CampaignID("campaignId", input.CampaignID)
		if err != nil {
			return i, err
		}
		return i, at("campaignId", r.Server.SetCampaignState(ctx, i, input.State))
	})
	return &model.SetAdCampaignStatePayload{Campaign: saved, UserErrors: mistakes}, err
}

// setAttribution changes how many days after a click conversions still count. Error: INVALID.
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
		return fault.Invalidf("schedule.toHour", "The end hour must be later than the start hour, and at most 24.")
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
