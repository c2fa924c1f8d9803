package advertising

import (
	"context"
	"time"

	"plaza/ads"
	"plaza/ads/adserver"
	"plaza/fault"
	"plaza/graph/model"
	"plaza/graph/relay"
)

// Report resolves AdManager.report.
func (r Manager) Report(ctx context.Context, _ *model.AdManager, by ads.Dimension, from, to *time.Time, campaign *string) (*model.AdReport, error) {
	request := ads.ReportRequest{By: by, To: r.Server.Now().UTC().Truncate(time.Hour).Add(time.Hour)}
	set(&request.To, to)
	request.From = request.To.Truncate(time.Hour).Add(-24 * time.Hour)
	set(&request.From, from)
	if campaign != nil {
		var err error
		if request.Campaign, err = relay.CampaignID("campaignId", *campaign); err != nil {
			return nil, err
		}
	}
	rows, err := r.Server.Report(ctx, request)
	return &model.AdReport{By: by, Lines: rows}, nameStart(err, to)
}

// Forecast resolves AdManager.forecast.
func (r Manager) Forecast(ctx context.Context, _ *model.AdManager, site, zone string, from, to *time.Time) (*model.AdForecast, error) {
	request := adserver.ForecastRequest{Zone: ads.ZoneID{Site: site, Name: zone}, From: r.Server.Now().UTC().Truncate(time.Hour)}
	set(&request.From, from)
	request.To = request.From.Add(7 * 24 * time.Hour)
	set(&request.To, to)
	forecast, err := r.Server.Forecast(ctx, request)
	return &model.AdForecast{Forecast: forecast}, nameStart(err, to)
}

// nameStart makes mistakes of a range without an end name its start: no end was given.
func nameStart(err error, to *time.Time) error {
	for _, mistake := range fault.Mistakes(err) {
		if to == nil && mistake.Field == "to" {
			mistake.Field = "from"
		}
	}
	return err
}

// Explain resolves AdManager.explain.
func (r Manager) Explain(ctx context.Context, _ *model.AdManager, site, zone string, keywords []string, count int, visitor *string) ([]*model.AdCandidate, error) {
	request := adserver.Request{Site: site, Zone: zone, Keywords: keywords, Count: count}
	if visitor != nil {
		request.Visitor = *visitor
	}
	explained, err := r.Server.Explain(ctx, request)
	candidates := make([]*model.AdCandidate, len(explained))
	for i := range explained {
		candidates[i] = &model.AdCandidate{Explanation: &explained[i]}
	}
	return candidates, err
}
