package adserver_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"plaza/ads"
	"plaza/ads/adserver"
	"plaza/ads/adsmodel"
	"plaza/fault"
	"plaza/id"
)

// world is a service on a model, with a clock that tests set. Ties always have the same result.
type world struct {
	*adserver.Service
	t     *testing.T
	ctx   context.Context //nolint:containedctx // the test's own
	store *watched
	now   time.Time

	campaign ads.Campaign
}

// watched is a store that counts its calls, and can be made to fail.
type watched struct {
	*adsmodel.Store
	zones, others atomic.Int64
	fault         error
}

func (w *watched) Zone(ctx context.Context, zone ads.ZoneID) (*ads.Zone, error) {
	w.zones.Add(1)
	if w.fault != nil {
		return nil, w.fault
	}
	return w.Store.Zone(ctx, zone)
}

func (w *watched) Units(ctx context.Context, ids []ads.UnitID) (map[ads.UnitID]*ads.Unit, error) {
	w.others.Add(1)
	if w.fault != nil {
		return nil, w.fault
	}
	return w.Store.Units(ctx, ids)
}

func (w *watched) Record(ctx context.Context, r ads.Recording) (bool, error) {
	w.others.Add(1)
	if w.fault != nil {
		return false, w.fault
	}
	return w.Store.Record(ctx, r)
}

func (w *watched) PutTraffic(ctx context.Context, counts []ads.Traffic) error {
	if w.fault != nil {
		return w.fault
	}
	return w.Store.PutTraffic(ctx, counts)
}

func (w *watched) Continue(ctx context.Context, refund ads.RefundID, now time.Time) (*ads.Refund, error) {
	if w.fault != nil {
		return nil, w.fault
	}
	return w.Store.Continue(ctx, refund, now)
}

func (w *watched) SigningKey(ctx context.Context, fresh []byte) ([]byte, error) {
	w.others.Add(1)
	if w.fault != nil {
		return nil, w.fault
	}
	return w.Store.SigningKey(ctx, fresh)
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{
		t: t, ctx: t.Context(), now: time.Date(2026, 11, 22, 12, 0, 0, 500, time.UTC),
		store: &watched{Store: adsmodel.New()},
	}
	w.Service = w.server(w.store)
	advertiser := ads.Advertiser{ID: ads.AdvertiserID{ID: id.New()}, Name: "Acme"}
	w.campaign = ads.Campaign{ID: ads.CampaignID{ID: id.New()}, Advertiser: advertiser.ID, Name: "Spring", State: ads.Active}
	w.add(ads.Batch{
		Advertisers: []ads.Advertiser{advertiser}, Campaigns: []ads.Campaign{w.campaign},
		Zones: []ads.Zone{{ID: top, Currency: "EUR", Design: ads.ByZone}, {ID: side, Currency: "EUR", Design: ads.ByZone}},
	})
	return w
}

// server returns another service with the world's clock.
func (w *world) server(store ads.Store) *adserver.Service {
	return adserver.New(store, adserver.Options{Now: func() time.Time { return w.now }, Random: rand.NewPCG(3, 5), Go: inline})
}

// inline makes counting and fetching money finish before a call returns.
func inline(do func()) { do() }

var (
	top  = ads.ZoneID{Site: "example.org", Name: "top"}
	side = ads.ZoneID{Site: "example.org", Name: "side"}
)

func (w *world) add(b ads.Batch) {
	w.t.Helper()
	if _, err := w.Add(w.ctx, b); err != nil {
		w.t.Fatalf("Add: %v", err)
	}
}

// unit returns a valid unit that is not stored.
func (w *world) unit(price ads.Micros) ads.Unit {
	return ads.Unit{
		ID: ads.UnitID{ID: id.New()}, Campaign: w.campaign.ID, State: ads.Active, Zones: []ads.ZoneID{top},
		Creative: ads.Creative{
			Headline: "Anvils", Body: "Heavy ones", ImageURL: "https://acme.example/anvil.png",
			LandingURL: "https://acme.example/anvils?from=plaza#buy",
		},
		Bid: ads.Bid{Model: ads.CPM, Price: price, Currency: "EUR"},
	}
}

// place stores a unit with a CPM.
func (w *world) place(price ads.Micros) ads.Unit {
	w.t.Helper()
	u := w.unit(price)
	w.add(ads.Batch{Units: []ads.Unit{u}})
	return u
}

func (w *world) choose(count int) []adserver.Choice {
	w.t.Helper()
	choices, err := w.Choose(w.ctx, request(top.Site, top.Name, count))
	if err != nil {
		w.t.Fatalf("Choose: %v", err)
	}
	return choices
}

// counted checks a unit's counters.
func (w *world) counted(u ads.UnitID, impressions, clicks int64) {
	w.t.Helper()
	units, err := w.store.Store.Units(w.ctx, []ads.UnitID{u})
	if err != nil || units[u] == nil {
		w.t.Fatalf("Units: %v, %v", units, err)
	}
	if got := units[u]; got.Impressions != impressions || got.Clicks != clicks {
		w.t.Errorf("the unit has %d impressions and %d clicks, want %d and %d", got.Impressions, got.Clicks, impressions, clicks)
	}
}

// refused checks that err is an Error with this code and field.
func refused(t *testing.T, err error, code fault.Code, field, what string) {
	t.Helper()
	var got *fault.Error
	if !errors.As(err, &got) {
		t.Errorf("%s: the error is %v, want an Error %s for %q", what, err, code, field)
		return
	}
	if got.Code != code || got.Field != field || got.Message == "" {
		t.Errorf("%s: the error is %v, want %s for %q and a message", what, err, code, field)
	}
}

func request(site, zone string, count int) adserver.Request {
	return adserver.Request{Site: site, Zone: zone, Count: count}
}
