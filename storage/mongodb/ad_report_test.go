package mongodb

import (
	"context"
	"slices"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/event"

	"plaza/ads"
	"plaza/id"
	"plaza/internal/testtime"
	"plaza/storage/mongodb/internal/mdb"
)

// TestRefundsWhileReportsAreRebuilt makes a refund before each of the commands that recalculate a
// stale hour. Afterwards the hour includes the refund, or is still stale.
func TestRefundsWhileReportsAreRebuilt(t *testing.T) {
	t.Parallel()
	var between interrupter
	one, other := twoStores(t, FeedsRead, &event.CommandMonitor{Started: between.started}, nil)
	store, now := other.Ads(), time.Now().UTC().Truncate(time.Millisecond)
	hour := now.Truncate(time.Hour)
	advertiser, campaign, unit := ads.AdvertiserID{ID: id.New()}, ads.CampaignID{ID: id.New()}, ads.UnitID{ID: id.New()}
	zone := ads.ZoneID{Site: "example.org", Name: "top"}
	must(store.Save(t.Context(), ads.Batch{
		Advertisers: []ads.Advertiser{{ID: advertiser, Name: "Acme"}},
		Campaigns:   []ads.Campaign{{ID: campaign, Advertiser: advertiser, Name: "Spring", State: ads.Active}},
		Zones:       []ads.Zone{{ID: zone, Currency: "EUR", Design: ads.ByKeywords}},
		Units: []ads.Unit{{
			ID: unit, State: ads.Active, Campaign: campaign, Zones: []ads.ZoneID{zone}, Bid: ads.Bid{Model: ads.CPM, Price: 1e6, Currency: "EUR"},
			Creative: ads.Creative{Headline: "Buy", LandingURL: "https://acme.example/"},
		}},
	}))(t)
	charge := func() ads.Refund {
		choice := ads.ChoiceID{ID: id.New()}
		must(store.Record(t.Context(), ads.Recording{
			Kind: ads.Impression, Choice: choice, Unit: unit, Campaign: campaign, Zone: zone, At: now, KeepUntil: now.Add(ads.EventLife), Cost: 1000,
		}))(t)
		must(store.Count(t.Context(), []ads.RecordingKey{{Kind: ads.Impression, Choice: choice}}, now))(t)
		r := ads.Refund{
			ID: ads.RefundID{ID: id.New()}, Most: 1, By: "admin", Reason: "a robot", Begun: now,
			Selection: ads.Selection{Campaign: campaign, Choice: choice, From: hour, To: hour.Add(time.Hour)},
		}
		ok(t, store.Begin(t.Context(), r))
		return r
	}
	const commands = 12
	refunded := ads.Micros(0)
	interrupted := 0
	for command := 1; command <= commands; command++ {
		before, meanwhile := charge(), charge()
		must(store.Continue(t.Context(), before.ID, now))(t)
		between.set(command, func() {
			interrupted++
			// If the two wait for each other, the refund gives up.
			ctx, cancel := context.WithTimeout(t.Context(), testtime.Scale(200*time.Millisecond))
			defer cancel()
			_, _ = store.Continue(ctx, meanwhile.ID, now)
		})
		ok(t, one.Ads().RollUp(t.Context(), hour, hour.Add(time.Hour), hour))
		between = interrupter{}
		refunded += must(store.Continue(t.Context(), before.ID, now))(t).Amount
		_, stale, err := store.RolledUp(t.Context())
		ok(t, err)
		if slices.ContainsFunc(stale, hour.Equal) {
			refunded += must(store.Continue(t.Context(), meanwhile.ID, now))(t).Amount
			continue
		}
		rows := must(store.Report(t.Context(), ads.ReportRequest{From: hour, To: hour.Add(time.Hour), By: ads.PerHour}))(t)
		var open struct{ Amount ads.Micros }
		ok(t, other.settings.Database().Collection("adRefunds").FindOne(t.Context(), mdb.Doc("_id", meanwhile.ID)).Decode(&open))
		want := refunded + open.Amount
		if len(rows) != 1 || rows[0].Refunded != want {
			t.Errorf("a refund before command %d: the report is %+v, and nothing is stale; %d were refunded", command, rows, want)
		}
		refunded += must(store.Continue(t.Context(), meanwhile.ID, now))(t).Amount
	}
	if interrupted < 5 || interrupted == commands {
		t.Errorf("%d of up to %d commands were interrupted", interrupted, commands)
	}
}
