package advertising

import (
	"context"
	"fmt"
	"strings"

	"plaza/ads/adserver"
	"plaza/graph/model"
	"plaza/loaders"
	"plaza/resolvers/presenter"
	"plaza/social"
)

// Once lists the fields of Query whose answers must not be cached: each choice of an ad counts
// once.
var Once = []string{"ads"}

// Ads resolves Query.ads.
func (r Query) Ads(ctx context.Context, site, zone string, keywords []string, count int, visitor *string) ([]*model.AdChoice, error) {
	request, err := r.adRequest(ctx, site, zone, keywords, count, visitor)
	if err != nil {
		return nil, err
	}
	choices, err := r.Server.Choose(ctx, request)
	if err != nil {
		return nil, err
	}
	wrapped := make([]*model.AdChoice, len(choices))
	for i, c := range choices {
		wrapped[i] = r.wrapChoice(c, pageIsAbout)
	}
	return wrapped, nil
}

// adRequest requests ads for the viewer, or for a visitor if signed out.
func (r *Resolver) adRequest(ctx context.Context, site, zone string, keywords []string, count int, visitor *string) (adserver.Request, error) {
	request := adserver.Request{Site: site, Zone: zone, Keywords: keywords, Count: count}
	if visitor != nil {
		request.Visitor = *visitor
	}
	viewer := loaders.For(ctx).Viewer.ID
	if viewer.IsZero() {
		return request, nil
	}
	request.User = viewer.String()
	var err error
	request.Staff, err = r.Social.HadRight(ctx, viewer, social.RightManageAds)
	return request, err
}

// The explanations of ads that were chosen by keywords, by the source of the keywords.
const (
	pageIsAbout = "The page is about: %s. Nothing about you was used"
	newsIsAbout = "Public posts on this page are about: %s. Nothing else was used"
)

// wrapChoice converts a choice to the schema's type.
func (r *Resolver) wrapChoice(c adserver.Choice, about string) *model.AdChoice {
	choice := &model.AdChoice{
		ID: c.ID.String(), AdID: c.Unit.String(), Headline: c.Headline, Body: c.Body, LandingURL: c.LandingURL,
		ClickURL: r.ClickURL + c.ClickToken, ImpressionToken: c.ImpressionToken, Advertiser: c.Advertiser, Why: why(&c, about),
	}
	if c.ImageURL != "" {
		choice.ImageURL = &c.ImageURL
	}
	return choice
}

// why explains to the person who sees an ad how it was chosen.
func why(c *adserver.Choice, about string) string {
	text := "It was placed here by the site. Nothing about you was used"
	if len(c.Matched) > 0 {
		text = fmt.Sprintf(about, strings.Join(c.Matched, ", "))
	}
	if c.Counted {
		text += ", except how often you have seen it"
	}
	return text + "."
}

// RecordAdImpression resolves Mutation.recordAdImpression.
func (r Mutation) RecordAdImpression(ctx context.Context, input model.RecordAdImpressionInput) (*model.RecordAdImpressionPayload, error) {
	recorded, err := r.Server.RecordImpression(ctx, input.Token)
	mistakes, err := presenter.UserErrors(ctx, err)
	return &model.RecordAdImpressionPayload{Recorded: presenter.Unless(mistakes, recorded), UserErrors: mistakes}, err
}

// RecordAdConversion resolves Mutation.recordAdConversion.
func (r Mutation) RecordAdConversion(ctx context.Context, input model.RecordAdConversionInput) (*model.RecordAdConversionPayload, error) {
	recorded, err := r.Server.RecordConversion(ctx, input.Token)
	mistakes, err := presenter.UserErrors(ctx, err)
	return &model.RecordAdConversionPayload{Recorded: presenter.Unless(mistakes, recorded), UserErrors: mistakes}, err
}
