package advertising

import (
	"context"
	"time"

	"plaza/ads"
	"plaza/ads/adserver"
	"plaza/fault"
	"plaza/graph/model"
	"plaza/graph/relay"
	"plaza/resolvers/gate"
	"plaza/resolvers/presenter"
)

// Charges resolves AdManager.charges.
func (r Manager) Charges(ctx context.Context, _ *model.AdManager, campaign string, unit, choice *string, kind *ads.Kind,
	from, to *time.Time, person, visitor, address *string,
) (*model.AdCharges, error) {
	query, err := chargeQuery(&model.RefundAdsInput{
		CampaignID: campaign, UnitID: unit, ChoiceID: choice, Kind: kind, From: from, To: to, Person: person, Visitor: visitor, Address: address,
	})
	if err != nil {
		return nil, err
	}
	charged, err := r.Server.Charged(ctx, query)
	return &model.AdCharges{Charged: charged}, err
}

// chargeQuery parses the filter of charges. Errors: those of the ids; INVALID for an empty visitor
// or address, which would match everyone.
func chargeQuery(input *model.RefundAdsInput) (q adserver.ChargeQuery, err error) {
	err = fault.All(
		relay.SetID(&q.Campaign, "campaignId", &input.CampaignID, relay.CampaignID),
		relay.SetID(&q.Unit, "unitId", input.UnitID, relay.AdUnitID),
		relay.SetID(&q.Choice, "choiceId", input.ChoiceID, relay.AdChoiceID),
		relay.SetID(&q.Person, "person", input.Person, relay.AdPersonID),
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

// Refunds resolves AdManager.refunds.
func (r Manager) Refunds(ctx context.Context, _ *model.AdManager, of string, first *int, after *string, last *int, before *string) (*model.AdRefundConnection, error) {
	campaign, err := r.existingCampaign(ctx, of)
	if err != nil {
		return nil, err
	}
	read := func(ctx context.Context, p ads.Page) (ads.Slice[*ads.Refund], error) {
		return r.Server.ListRefunds(ctx, campaign, p)
	}
	list := relay.ListOf(relay.CursorsOf(relay.KindAd, "refunds", campaign.String()), read)
	return relay.Connect(ctx, list, relay.ArgsOf(first, after, last, before), func(r *ads.Refund) *model.AdRefund { return &model.AdRefund{Refund: r} })
}

// RefundAds resolves Mutation.refundAds.
func (r Mutation) RefundAds(ctx context.Context, input model.RefundAdsInput) (*model.RefundAdsPayload, error) {
	if err := r.mustManageAds(ctx); err != nil {
		return nil, err
	}
	query, err := chargeQuery(&input)
	request := adserver.RefundRequest{ChargeQuery: query, Count: input.Count, Reason: input.Reason, By: gate.UserOf(ctx).String()}
	var refund *ads.Refund
	if err == nil {
		refund, err = r.Server.Refund(ctx, request)
	} else {
		err = fault.All(err, request.Check())
	}
	payload := &model.RefundAdsPayload{}
	if payload.UserErrors, err = presenter.UserErrors(ctx, err); err == nil && refund != nil {
		payload.Refund = &model.AdRefund{Refund: refund}
	}
	return payload, err
}
