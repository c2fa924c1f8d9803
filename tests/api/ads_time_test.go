package api

import (
	"testing"
	"time"

	"plaza/ads/adserver"
	"plaza/internal/plazatest"
)

// TestAdManagerHasTheTimeOfTheAdServer: what the ad manager calls today, the last 24 hours and the
// next 7 days are those of the ad server, whose time is the database's.
func TestAdManagerHasTheTimeOfTheAdServer(t *testing.T) {
	t.Parallel()
	plazatest.ForEachEngine(t, func(t *testing.T, e plazatest.Engine) {
		now := time.Now().Add(50 * time.Hour)
		options := adserver.Options{Now: func() time.Time { return now }, Go: func(do func()) { do() }}
		p := plazatest.ServeWithAds(t, e.Open(t), options)
		campaign := plazatest.SeedAds(t, p.Store)
		plazatest.Grant(t, p, "GRANT: ads:manage ada")
		ada, bob := p.As(t, "ada"), p.As(t, "bob") // what ada sees does not count
		var shown struct {
			Ads []struct{ ImpressionToken string }
		}
		bob.Do(t, `{ ads(site: "example.org", zone: "sidebar") { impressionToken } }`, nil, &shown)
		bob.Mutate(t, "recordAdImpression", "", map[string]any{"token": shown.Ads[0].ImpressionToken})
		if err := adserver.New(p.Store.Ads(), options).CatchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
		var got struct {
			AdManager struct {
				Campaign struct{ Spent, SpentToday int }
				Report   struct{ Rows []struct{ Impressions int } }
				Forecast struct{ Basis string }
			}
		}
		ada.Do(t, `query($id: ID!) { adManager {
			campaign(id: $id) { spent spentToday } report(by: DAY) { rows { impressions } }
			forecast(site: "example.org", zone: "sidebar") { basis } } }`, map[string]any{"id": campaign.String()}, &got)
		if c := got.AdManager.Campaign; c.Spent == 0 || c.SpentToday != c.Spent {
			t.Errorf("the campaign has spent %+v", c)
		}
		if rows := got.AdManager.Report.Rows; len(rows) != 1 || rows[0].Impressions != 1 {
			t.Errorf("the report has %+v, want one impression", rows)
		}
		if got.AdManager.Forecast.Basis == "" {
			t.Error("there is no forecast from now on")
		}
	})
}
