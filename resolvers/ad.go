package resolvers

import (
	"context"

	"plaza/ads"
	"plaza/graph/model"
)

// Ads resolves Query.ads.
func (r queryResolver) Ads(ctx context.Context, site, zone string, count int) ([]*model.AdChoice, error) {
	choices, err := r.Resolver.Ads.Choose(ctx, site, zone, count)
	if err != nil {
		return nil, err
	}
	wrapped := make([]*model.AdChoice, len(choices))
	for i, c := range choices {
		wrapped[i] = r.wrapChoice(c)
	}
	return wrapped, nil
}

func (r *Resolver) wrapChoice(c ads.Choice) *model.AdChoice {
	choice := &model.AdChoice{
		ID: c.ID.String(), AdID: c.Unit.String(), Headline: c.Headline, Body: c.Body, LandingURL: c.LandingURL,
		ClickURL: r.ClickURL + c.ClickToken, ImpressionToken: c.ImpressionToken, Advertiser: c.Advertiser,
	}
	if c.ImageURL != "" {
		choice.ImageURL = &c.ImageURL
	}
	return choice
}

// RecordAdImpression resolves Mutation.recordAdImpression.
func (r mutationResolver) RecordAdImpression(ctx context.Context, input model.RecordAdImpressionInput) (*model.RecordAdImpressionPayload, error) {
	recorded, err := r.Resolver.Ads.RecordImpression(ctx, input.Token)
	mistakes, err := userErrors(err)
	return &model.RecordAdImpressionPayload{Recorded: unless(mistakes, recorded), UserErrors: mistakes}, err
}
