package adstest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"plaza/ads"
	"plaza/id"
)

// crowd is the number of callers in the cases about concurrency.
const crowd = 32

// world is the store of one case, with helpers.
type world struct {
	ads.Store
	t   *testing.T
	ctx context.Context //nolint:containedctx // the test's own

	histories int // the number of random histories that a case plays
}

func newWorld(t *testing.T, histories int, open Open) *world {
	t.Helper()
	return &world{Store: open(t), t: t, ctx: t.Context(), histories: histories}
}

// play plays random histories, which rapid draws. With -short it plays a fifth of them.
func (w *world) play(history func(t *rapid.T)) {
	w.t.Helper()
	most := w.histories
	if testing.Short() {
		most = max(1, most/5)
	}
	played, failed := 0, false
	rapid.Check(w.t, func(t *rapid.T) {
		if !failed && played >= most {
			return // never while a failure shrinks
		}
		played, failed = played+1, true // reset when it has succeeded
		history(t)
		failed = false
	})
}

func (w *world) ok(err error, what string) {
	w.t.Helper()
	if err != nil {
		w.t.Fatalf("%s: %v", what, err)
	}
}

func (w *world) fails(err, want error, what string) {
	w.t.Helper()
	if !errors.Is(err, want) {
		w.t.Errorf("%s: the error is %v, want %v", what, err, want)
	}
}

func (w *world) same(got, want any, what string) {
	w.t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		w.t.Errorf("%s (- want, + got):\n%s", what, diff)
	}
}

// together runs crowd calls concurrently, and waits for them all.
func together(call func(i int)) {
	var all sync.WaitGroup
	start := make(chan struct{})
	for i := range crowd {
		all.Go(func() {
			<-start
			call(i)
		})
	}
	close(start)
	all.Wait()
}

func (w *world) add(b ads.Batch) {
	w.t.Helper()
	_, err := w.Save(w.ctx, b)
	w.ok(err, "Add")
}

// advertiser stores an advertiser.
func (w *world) advertiser() ads.Advertiser {
	w.t.Helper()
	a := ads.Advertiser{ID: ads.AdvertiserID{ID: id.New()}, Name: "Acme"}
	w.add(ads.Batch{Advertisers: []ads.Advertiser{a}})
	return a
}

// campaign stores a campaign, and an advertiser for it.
func (w *world) campaign() ads.Campaign {
	w.t.Helper()
	c := ads.Campaign{ID: ads.CampaignID{ID: id.New()}, Advertiser: w.advertiser().ID, Name: "Spring", State: ads.Active}
	c.CreatedAt = c.ID.Time()
	w.add(ads.Batch{Campaigns: []ads.Campaign{c}})
	return c
}

// zone stores a zone in euros.
func (w *world) zone(name string) ads.ZoneID {
	w.t.Helper()
	zone := ads.ZoneID{Site: "example.org", Name: name}
	w.add(ads.Batch{Zones: []ads.Zone{{ID: zone, Currency: "EUR", Design: ads.ByKeywords}}})
	return zone
}

// unit returns a unit without storing it.
func unit(c ads.Campaign, bid ads.Bid, zones ...ads.ZoneID) ads.Unit {
	return ads.Unit{
		ID: ads.UnitID{ID: id.New()}, Campaign: c.ID, State: ads.Active, Bid: bid, Zones: zones,
		Creative: ads.Creative{Headline: "Buy", Body: "Now", LandingURL: "https://acme.example/buy"},
	}
}

// place stores a unit.
func (w *world) place(c ads.Campaign, bid ads.Bid, zones ...ads.ZoneID) ads.UnitID {
	w.t.Helper()
	u := unit(c, bid, zones...)
	w.add(ads.Batch{Units: []ads.Unit{u}})
	return u.ID
}

func cpm(price ads.Micros) ads.Bid { return ads.Bid{Model: ads.CPM, Price: price, Currency: "EUR"} }

func cpc(price ads.Micros) ads.Bid { return ads.Bid{Model: ads.CPC, Price: price, Currency: "EUR"} }

// running returns the units that run in a zone, in order.
func (w *world) running(zone ads.ZoneID) []ads.UnitID {
	w.t.Helper()
	z, err := w.Zone(w.ctx, zone)
	w.ok(err, "Zone")
	if !slices.IsSortedFunc(z.Units, func(a, b ads.RunningUnit) int { return a.Compare(&b) }) {
		w.t.Errorf("the units of %v are not in order: %+v", zone, z.Units)
	}
	var ids []ads.UnitID
	for _, u := range z.Units {
		ids = append(ids, u.Unit)
	}
	return ids
}

// runs checks which units run in a zone, in order.
func (w *world) runs(zone ads.ZoneID, want ...ads.UnitID) {
	w.t.Helper()
	w.same(w.running(zone), want, fmt.Sprintf("the units in %v", zone))
}

func (w *world) getUnit(u ads.UnitID) *ads.Unit {
	w.t.Helper()
	found, err := w.Units(w.ctx, []ads.UnitID{u})
	w.ok(err, "Units")
	if found[u] == nil {
		w.t.Fatalf("the unit %v is absent", u)
	}
	return found[u]
}

// counts checks a unit's counters, and that it is in the right place in all zones where it runs.
func (w *world) counts(u ads.UnitID, impressions, clicks int64) {
	w.t.Helper()
	unit := w.getUnit(u)
	if unit.Impressions != impressions || unit.Clicks != clicks {
		w.t.Errorf("%v has %d impressions and %d clicks, want %d and %d",
			u, unit.Impressions, unit.Clicks, impressions, clicks)
	}
	for _, zone := range unit.Zones {
		z, err := w.Zone(w.ctx, zone)
		w.ok(err, "Zone")
		for _, r := range z.Units {
			if r.Unit == u && r.ECPM != unit.ECPM() {
				w.t.Errorf("%v has the eCPM %d in %v, and %d by its counters", u, r.ECPM, zone, unit.ECPM())
			}
		}
	}
}

// recording returns a recording of a new choice.
func recording(kind ads.Kind, u ads.UnitID, zone ads.ZoneID) ads.Recording {
	now := time.Now()
	return ads.Recording{
		Kind: kind, Choice: ads.ChoiceID{ID: id.New()}, Unit: u, Zone: zone, At: now, KeepUntil: now.Add(48 * time.Hour),
	}
}

// record stores a recording, which must be new, and counts it.
func (w *world) record(r ads.Recording) ads.Receipt {
	w.t.Helper()
	if !w.take(r) {
		w.t.Errorf("%+v was not recorded", r)
	}
	receipts := w.count(r.At, r)
	if len(receipts) != 1 {
		w.t.Fatalf("%+v has the receipts %+v, want one", r, receipts)
	}
	receipt := receipts[0]
	w.same(receipt.RecordingKey, r.Key(), "what was counted")
	w.same(receipt.Zone, r.Zone, "where that was")
	return receipt
}

// take stores a recording.
func (w *world) take(r ads.Recording) (recorded bool) {
	w.t.Helper()
	recorded, err := w.Record(w.ctx, r)
	w.ok(err, "Record")
	return recorded
}

// count counts recordings.
func (w *world) count(now time.Time, some ...ads.Recording) []ads.Receipt {
	w.t.Helper()
	keys := make([]ads.RecordingKey, len(some))
	for i := range some {
		keys[i] = some[i].Key()
	}
	receipts, err := w.Count(w.ctx, keys, now)
	w.ok(err, "Count")
	return receipts
}

// pause and resume return whether that changed the campaign. They retry if others save it at the
// same time.
func (w *world) pause(c ads.CampaignID) (bool, error) { return w.setState(c, ads.Paused) }

func (w *world) resume(c ads.CampaignID) (bool, error) { return w.setState(c, ads.Active) }

func (w *world) setState(c ads.CampaignID, state ads.State) (bool, error) {
	for {
		found, err := w.Campaigns(w.ctx, []ads.CampaignID{c})
		if err != nil || found[c].State == state {
			return false, err
		}
		found[c].State = state
		if _, err = w.Save(w.ctx, ads.Batch{Campaigns: []ads.Campaign{*found[c]}}); !errors.Is(err, ads.ErrConflict) {
			return err == nil, err
		}
	}
}
