package mongodb_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"go.mongodb.org/mongo-driver/v2/event"

	"plaza/ads"
	"plaza/ads/adserver"
	"plaza/storage/mongodb"
	"plaza/storage/mongodb/mongotest"
)

// TestThousandConcurrentRecordingsOfOneCampaign gives two servers 500 impressions and 500 clicks,
// half of the clicks before their impressions. None is refused, each counts once, the budget pays
// for as many clicks as it has money for, and there are fewer transactions than recordings.
func TestThousandConcurrentRecordingsOfOneCampaign(t *testing.T) {
	t.Parallel()
	const pairs, paid = 500, 301
	uri := mongotest.Reused(t)
	var commits atomic.Int64
	watch := &event.CommandMonitor{Started: func(_ context.Context, e *event.CommandStartedEvent) {
		if e.CommandName == "commitTransaction" {
			commits.Add(1)
		}
	}}
	var servers [2]*adserver.Service
	var store ads.Store
	for i := range servers {
		store = openAt(t, uri, mongodb.Options{Monitor: watch}).Ads()
		servers[i] = adserver.New(store, adserver.Options{})
	}
	f := placeAds(t, store)
	choices := chooseClicks(t, servers[0], f, pairs)
	limit(t, store, f.campaign, ads.Budget{Currency: "EUR", Total: paid*clickPrice + clickPrice/2})

	before := commits.Load()
	recordAll(t, servers, choices)
	for _, s := range servers { // flushes memory, and counts the rest
		if err := s.Drain(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if err := servers[0].CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	took := commits.Load() - before
	t.Logf("%d recordings took %d transactions", 2*pairs, took)
	if took >= 2*pairs {
		t.Errorf("%d recordings took %d transactions", 2*pairs, took)
	}
	units, err := store.Units(t.Context(), []ads.UnitID{f.cpc})
	if err != nil || units[f.cpc].Impressions != pairs || units[f.cpc].Clicks != pairs {
		t.Errorf("%+v, %v", units[f.cpc], err)
	}
	ledgers, err := store.Ledgers(t.Context(), []ads.CampaignID{f.campaign})
	if err != nil || ledgers[f.campaign].Spent != paid*clickPrice {
		t.Errorf("%+v, %v; want that %d clicks were billed", ledgers[f.campaign], err, paid)
	}
}

const clickPrice = 1_000_000 // as set by placeAds

// chooseClicks chooses ads that are paid per click.
func chooseClicks(t *testing.T, s *adserver.Service, f adFixture, n int) (choices []adserver.Choice) {
	t.Helper()
	for len(choices) < n {
		some, err := s.Choose(t.Context(), adserver.Request{Site: f.zone.Site, Zone: f.zone.Name, Count: 2})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range some {
			if c.Unit == f.cpc {
				choices = append(choices, c)
			}
		}
	}
	return choices
}

func limit(t *testing.T, store ads.Store, campaign ads.CampaignID, b ads.Budget) {
	t.Helper()
	found, err := store.Campaigns(t.Context(), []ads.CampaignID{campaign})
	if err != nil {
		t.Fatal(err)
	}
	c := *found[campaign]
	c.Budget = b
	if _, err := store.Save(t.Context(), ads.Batch{Campaigns: []ads.Campaign{c}}); err != nil {
		t.Fatal(err)
	}
}

// recordAll sends the impression of each choice to one server and its click to the other, all
// concurrently.
func recordAll(t *testing.T, servers [2]*adserver.Service, choices []adserver.Choice) {
	t.Helper()
	var all sync.WaitGroup
	start := make(chan struct{})
	for i, c := range choices {
		clicked := make(chan struct{})
		all.Go(func() {
			<-start
			if i%2 == 0 {
				<-clicked
			}
			if recorded, err := servers[i%2].RecordImpression(t.Context(), c.ImpressionToken); err != nil || !recorded {
				t.Errorf("impression %d: %v, %v (%v)", i, recorded, err, errors.Unwrap(err))
			}
		})
		all.Go(func() {
			<-start
			if landing, err := servers[(i+1)%2].RecordClick(t.Context(), c.ClickToken, ""); err != nil || landing == "" {
				t.Errorf("click %d: to %q, %v (%v)", i, landing, err, errors.Unwrap(err))
			}
			close(clicked)
		})
	}
	close(start)
	all.Wait()
}
