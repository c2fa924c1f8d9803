package resolvers

import (
	"context"
	"time"

	"plaza/ads"
	"plaza/ads/adserver"
	"plaza/fault"
	"plaza/graph/model"
)

// Forecast resolves AdManager.forecast.
func (r adManagerResolver) Forecast(ctx context.Context, _ *model.AdManager, site, zone string, from, to *time.Time) (*model.AdForecast, error) {
	request := adserver.ForecastRequest{Zone: ads.ZoneID{Site: site, Name: zone}, From: time.Now().UTC().Truncate(time.Hour)}
	set(&request.From, from)
	request.To = request.From.Add(7 * 24 * time.Hour)
	set(&request.To, to)
	forecast, err := r.Ads.Forecast(ctx, request)
	return &model.AdForecast{Forecast: forecast}, err
}

// Charges resolves AdManager.charges.
func (r adManagerResolver) Charges(ctx context.Context, _ *model.AdManager, campaign string, unit, choice *string, kind *ads.Kind,
	from, to *time.Time, person, visitor, address *string,
) (*model.AdCharges, error) {
	query, err := chargeQuery(&model.RefundAdsInput{
		CampaignID: campaign, UnitID: unit, ChoiceID: choice, Kind: kind, From: from, To: to, Person: person, Visitor: visitor, Address: address,
	})
	if err != nil {
		return nil, err
	}
	charged, err := r.Ads.Charged(ctx, query)
	return &model.AdCharges{Charged: charged}, err
}

// chargeQuery parses the filter of charges. Errors: those of the ids; INVALID for an empty visitor
// or address, which would match everyone.
func chargeQuery(input *model.RefundAdsInput) (q adserver.ChargeQuery, err error) {
	err = fault.All(
		setID(&q.Campaign, "campaignId", &input.CampaignID, campaignID),
		setID(&q.Unit, "unitId", input.UnitID, adUnitID),
		setID(&q.Choice, "choiceId", input.ChoiceID, choiceID),
		setID(&q.Person, "person", input.Person, adPersonID),
		notEmpty("visitor", input.Visitor),
		notEmpty("address", input.Address),
	)
	set(&q.Kind, input.Kind)
	set(&q.From, input.From)
	set(&q.To, input.To)
	set(&q.Visitor, input.Visitor)
	set(&q.Address, input.Address)
	return q, err
}

func notEmpty(field string, given *string) error {
	if given != nil && *given == "" {
		return fault.Invalidf(field, "This must not be empty.")
	}
	return nil
}

// setID parses an id if one was given.
func setID[ID any](to *ID, field string, given *string, read func(field, text string) (ID, error)) (err error) {
	if given != nil {
		*to, err = read(field, *given)
	}
	return err
}

// Refunds resolves AdManager.refunds.
func (r adManagerResolver) Refunds(ctx context.Context, _ *model.AdManager, of string, first *int, after *string, last *int, before *string) (*model.AdRefundConnection, error) {
	campaign, err := r.existingCampaign(ctx, of)
	if err != nil {
		return nil, err
	}
	read := func(ctx context.Context, p ads.Page) (ads.Slice[*ads.Refund], error) {
		return r.Ads.ListRefunds(ctx, campaign, p)
	}
	c, err := list[*ads.Refund]{cursorsOf(cursorAd, "refunds", campaign.String()), read}.connect(ctx, pageArgs{first, after, last, before})
	return connectionOf(c, err, func(r *ads.Refund) *model.AdRefund { return &model.AdRefund{Refund: r} })
}

// RefundAds resolves Mutation.refundAds.
func (r mutationResolver) RefundAds(ctx context.Context, input model.RefundAdsInput) (*model.RefundAdsPayload, error) {
	if err := r.mustManageAds(ctx); err != nil {
		return nil, err
	}
	query, err := chargeQuery(&input)
	request := adserver.RefundRequest{ChargeQuery: query, Count: input.Count, Reason: input.Reason, By: viewerOf(ctx).String()}
	var refund *ads.Refund
	if err == nil {
		refund, err = r.Resolver.Ads.Refund(ctx, request)
	} else {
		err = fault.All(err, request.Check())
	}
	payload := &model.RefundAdsPayload{}
	if payload.UserErrors, err = userErrors(ctx, err); err == nil && refund != nil {
		payload.Refund = &model.AdRefund{Refund: refund}
	}
	return payload, err
}
