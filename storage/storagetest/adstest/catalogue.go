package adstest

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"plaza/ads"
	"plaza/id"
)

var catalogueCases = []testCase{
	{"AddStoresAllOfABatch", addStoresABatch},
	{"AddAgainChangesNothing", addAgainChangesNothing},
	{"AddTakesTheFirstOfTwoEntriesOfOneID", addTakesTheFirst},
	{"CreationIsKept", creationIsKept},
	{"AddNeedsReferencedEntries", addNeedsReferences},
	{"AddRefusesOtherCurrencies", addRefusesOtherCurrencies},
	{"AddRefusesMoreUnitsThanAZoneHolds", addRefusesFullZones},
	{"RefusedBatchStoresNothing", refusedBatchStoresNothing},
	{"ConcurrentAddsOfOneBatchAddOnce", oneBatchByMany},
	{"TextsComeBackByteForByte", textsComeBack},
	{"AbsentThingsAreMissing", absentThingsAreMissing},
	{"CanceledContextEndsCalls", canceledContextEndsCalls},
}

// sample is a batch with one of everything, by two advertisers.
type sample struct{ ads.Batch }

// dated gives all entries the time of creation with which they are read.
func dated(b ads.Batch) ads.Batch { return b.Dated(noon) }

func batch() sample {
	acme := ads.Advertiser{ID: ads.AdvertiserID{ID: id.New()}, Name: "Acme"}
	bolt := ads.Advertiser{ID: ads.AdvertiserID{ID: id.New()}, Name: "Bolt"}
	spring := ads.Campaign{ID: ads.CampaignID{ID: id.New()}, Advertiser: acme.ID, Name: "Spring", State: ads.Active}
	autumn := ads.Campaign{ID: ads.CampaignID{ID: id.New()}, Advertiser: bolt.ID, Name: "Autumn", State: ads.Paused}
	top := ads.ZoneID{Site: "example.org", Name: "top"}
	side := ads.ZoneID{Site: "example.org", Name: "side"}
	return sample{dated(ads.Batch{
		Advertisers: []ads.Advertiser{acme, bolt},
		Campaigns:   []ads.Campaign{spring, autumn},
		Zones:       []ads.Zone{{ID: top, Currency: "EUR", Design: ads.ByZone}, {ID: side, Currency: "EUR", Design: ads.ByZone}},
		Units: []ads.Unit{
			unit(spring, cpm(2_000_000), top, side), unit(spring, cpc(500_000), side), unit(autumn, cpm(9_000_000), side),
		},
	})}
}

func addStoresABatch(w *world) {
	b := batch()
	added, err := w.Save(w.ctx, b.Batch)
	w.ok(err, "Add")
	w.same(added, 9, "what was added")

	advertisers, err := w.Advertisers(w.ctx, []ads.AdvertiserID{b.Advertisers[0].ID, b.Advertisers[1].ID})
	w.ok(err, "Advertisers")
	campaigns, err := w.Campaigns(w.ctx, []ads.CampaignID{b.Campaigns[0].ID, b.Campaigns[1].ID})
	w.ok(err, "Campaigns")
	for i, campaign := range b.Campaigns {
		b.Advertisers[i].Revision, campaign.Revision = 1, 1
		w.same(advertisers[b.Advertisers[i].ID], &b.Advertisers[i], "the advertiser")
		w.same(campaigns[campaign.ID], &campaign, "the campaign")
	}
	for i := range b.Units {
		b.Units[i].Revision = 1
		w.same(w.getUnit(b.Units[i].ID), &b.Units[i], "the unit")
	}

	side, err := w.Zone(w.ctx, b.Zones[1].ID)
	w.ok(err, "Zone")
	w.same(side, &ads.Zone{ID: b.Zones[1].ID, Currency: "EUR", Design: ads.ByZone, Revision: 1, Units: []ads.RunningUnit{
		b.running(1), b.running(0), // 5.00 before 2.00; 9.00 is paused
	}}, "the zone")
}

// running returns a zone's copy of a unit by the first advertiser, whose campaign has not changed.
func (b *sample) running(unit int) ads.RunningUnit {
	stored := b.Campaigns[0]
	stored.Revision = 1
	return ads.Running(&b.Units[unit], &stored, &b.Advertisers[0])
}

func addAgainChangesNothing(w *world) {
	b := batch()
	w.add(b.Batch)
	w.record(recording(ads.Impression, b.Units[0].ID, b.Zones[0].ID))
	for campaign, change := range map[ads.CampaignID]func(ads.CampaignID) (bool, error){
		b.Campaigns[0].ID: w.pause, b.Campaigns[1].ID: w.resume,
	} {
		if changed, err := change(campaign); err != nil || !changed {
			w.t.Fatalf("pausing or resuming %v: %v, %v", campaign, changed, err)
		}
	}
	before := w.getUnit(b.Units[0].ID)

	again := b.Batch
	again.Advertisers = []ads.Advertiser{{ID: b.Advertisers[0].ID, Name: "Other"}, b.Advertisers[1]}
	again.Units = append([]ads.Unit{}, b.Units...)
	again.Units[0].Headline, again.Units[0].Bid, again.Units[0].Zones = "Other", cpm(1), again.Units[1].Zones
	added, err := w.Save(w.ctx, again)
	w.ok(err, "Add again")
	w.same(added, 0, "what was added again")
	w.same(w.getUnit(b.Units[0].ID), before, "the unit after the second Add")
	w.runs(b.Zones[0].ID)
	w.runs(b.Zones[1].ID, b.Units[2].ID)
}

func addTakesTheFirst(w *world) {
	b := batch()
	twice := b.Batch
	twice.Advertisers = append(twice.Advertisers, ads.Advertiser{ID: b.Advertisers[0].ID, Name: "Later"})
	twice.Units = append(twice.Units, b.Units[0])
	twice.Units[3].Headline = "Later"
	twice.Zones = append(twice.Zones, b.Zones[0])
	added, err := w.Save(w.ctx, twice)
	w.ok(err, "Add")
	w.same(added, 9, "what was added")
	b.Units[0].Revision = 1
	w.same(w.getUnit(b.Units[0].ID), &b.Units[0], "the unit")
	z, err := w.Zone(w.ctx, b.Zones[0].ID)
	w.ok(err, "Zone")
	w.same(z.Units, []ads.RunningUnit{b.running(0)}, "the zone's units")
}

func creationIsKept(w *world) {
	then := noon.Add(123 * time.Millisecond)
	b := batch()
	for i := range b.Advertisers {
		b.Advertisers[i].ID.ID = id.Derive(time.Unix(0, 0), b.Advertisers[i].Name)
		b.Campaigns[i].ID.ID, b.Campaigns[i].Advertiser = id.Derive(time.Unix(0, 0), b.Campaigns[i].Name), b.Advertisers[i].ID
	}
	b.Units = b.Units[:2]
	for i := range b.Units {
		b.Units[i].ID.ID, b.Units[i].Campaign = id.Derive(time.Unix(0, 0), strconv.Itoa(i)), b.Campaigns[i].ID
	}
	// The second of each has no time, as in what earlier versions have imported.
	for i, at := range []time.Time{then, {}} {
		b.Advertisers[i].CreatedAt, b.Campaigns[i].CreatedAt, b.Units[i].CreatedAt = at, at, at
	}
	w.add(b.Batch)
	check := func(i int, want time.Time) {
		w.t.Helper()
		advertisers, err := w.Advertisers(w.ctx, []ads.AdvertiserID{b.Advertisers[i].ID})
		w.ok(err, "Advertisers")
		campaigns, err := w.Campaigns(w.ctx, []ads.CampaignID{b.Campaigns[i].ID})
		w.ok(err, "Campaigns")
		w.same(advertisers[b.Advertisers[i].ID].CreatedAt, want, "the advertiser's creation")
		w.same(campaigns[b.Campaigns[i].ID].CreatedAt, want, "the campaign's creation")
		w.same(w.getUnit(b.Units[i].ID).CreatedAt, want, "the unit's creation")
	}
	check(0, then)
	check(1, time.UnixMilli(0).UTC())

	// A replacement without a time keeps the first's, and one with a time gives one to the second.
	for i, at := range []time.Time{{}, then} {
		b.Advertisers[i].CreatedAt, b.Campaigns[i].CreatedAt, b.Units[i].CreatedAt = at, at, at
		b.Advertisers[i].Revision, b.Campaigns[i].Revision, b.Units[i].Revision = 1, 1, 1
	}
	w.add(ads.Batch{Advertisers: b.Advertisers, Campaigns: b.Campaigns, Units: b.Units})
	check(0, then)
	check(1, then)
}

func addNeedsReferences(w *world) {
	c, zone := w.campaign(), w.zone("top")
	orphan := ads.Campaign{ID: ads.CampaignID{ID: id.New()}, Advertiser: ads.AdvertiserID{ID: id.New()}, Name: "Orphan"}
	for name, b := range map[string]ads.Batch{
		"a campaign without its advertiser": {Campaigns: []ads.Campaign{orphan}},
		"a unit without its campaign":       {Units: []ads.Unit{unit(orphan, cpm(1), zone)}},
		"a unit without its zone":           {Units: []ads.Unit{unit(c, cpm(1), zone, ads.ZoneID{Site: "example.org", Name: "none"})}},
	} {
		added, err := w.Save(w.ctx, b)
		w.fails(err, ads.ErrNotFound, name)
		w.same(added, 0, name)
	}
	w.runs(zone)
}

func addRefusesOtherCurrencies(w *world) {
	c, zone := w.campaign(), w.zone("top")
	dollars := ads.Bid{Model: ads.CPM, Price: 1, Currency: "USD"}
	for name, b := range map[string]ads.Batch{
		"a unit that bids in another currency": {Units: []ads.Unit{unit(c, dollars, zone)}},
		"the zone with another currency":       {Zones: []ads.Zone{{ID: zone, Currency: "USD", Design: ads.ByZone}}},
	} {
		added, err := w.Save(w.ctx, b)
		w.fails(err, ads.ErrCurrency, name)
		w.same(added, 0, name)
	}
	z, err := w.Zone(w.ctx, zone)
	w.ok(err, "Zone")
	w.same(z, &ads.Zone{ID: zone, Currency: "EUR", Design: ads.ByKeywords, Revision: 1}, "the zone")
}

func addRefusesFullZones(w *world) {
	running, paused := w.campaign(), w.campaign()
	if _, err := w.pause(paused.ID); err != nil {
		w.t.Fatal(err)
	}
	zone := w.zone("top")
	var b ads.Batch
	for i := range ads.MaxZoneUnits {
		c := running
		if i%2 == 0 {
			c = paused
		}
		b.Units = append(b.Units, unit(c, cpm(ads.Micros(i+1)), zone))
	}
	w.add(b)
	one := ads.Batch{Units: []ads.Unit{unit(running, cpm(1), zone)}}
	_, err := w.Save(w.ctx, one)
	w.fails(err, ads.ErrFull, "one unit more")
	w.same(len(w.running(zone)), ads.MaxZoneUnits/2, "the units that run")

	w.place(running, cpm(1), w.zone("side")) // only the other zone is full
	added, err := w.Save(w.ctx, b)
	w.ok(err, "adding to a full zone what is there")
	w.same(added, 0, "what was added again")
}

func refusedBatchStoresNothing(w *world) {
	b := batch()
	b.Units[2].Zones = []ads.ZoneID{{Site: "example.org", Name: "none"}}
	_, err := w.Save(w.ctx, b.Batch)
	w.fails(err, ads.ErrNotFound, "Add")

	advertisers, err := w.Advertisers(w.ctx, []ads.AdvertiserID{b.Advertisers[0].ID})
	w.ok(err, "Advertisers")
	campaigns, err := w.Campaigns(w.ctx, []ads.CampaignID{b.Campaigns[0].ID})
	w.ok(err, "Campaigns")
	units, err := w.Units(w.ctx, []ads.UnitID{b.Units[0].ID})
	w.ok(err, "Units")
	w.same(len(advertisers)+len(campaigns)+len(units), 0, "what a refused batch has stored")
	_, err = w.Zone(w.ctx, b.Zones[0].ID)
	w.fails(err, ads.ErrNotFound, "a zone of the refused batch")
}

func oneBatchByMany(w *world) {
	b := batch()
	var total atomic.Int64
	together(func(int) {
		added, err := w.Save(w.ctx, b.Batch)
		if err != nil {
			w.t.Errorf("Add: %v", err)
		}
		total.Add(int64(added))
	})
	w.same(total.Load(), int64(9), "what all have added")
	w.runs(b.Zones[0].ID, b.Units[0].ID)
	w.runs(b.Zones[1].ID, b.Units[1].ID, b.Units[0].ID)
}

func textsComeBack(w *world) {
	odd := "Ünïcödé \"quotes\" 'n' $dollar.dots {braces} 日本 🎈 e\u0301 \ufeff" + strings.Repeat("x", 400)
	b := batch()
	b.Advertisers[0].Name, b.Campaigns[0].Name = odd, odd
	b.Units[0].Creative = ads.Creative{
		Headline: odd, Body: odd, ImageURL: "https://acme.example/é?q=%00&r=$set", LandingURL: "http://acme.example/#" + odd[:20],
	}
	w.add(b.Batch)
	b.Units[0].Revision = 1
	w.same(w.getUnit(b.Units[0].ID), &b.Units[0], "the unit")
	z, err := w.Zone(w.ctx, b.Zones[0].ID)
	w.ok(err, "Zone")
	w.same(z.Units, []ads.RunningUnit{b.running(0)}, "the zone's units")
}

func absentThingsAreMissing(w *world) {
	known := w.place(w.campaign(), cpm(1), w.zone("top"))
	units, err := w.Units(w.ctx, []ads.UnitID{{ID: id.New()}, known, {}, known})
	w.ok(err, "Units")
	w.same(len(units), 1, "the units found")
	for _, ids := range [][]ads.UnitID{nil, {{ID: id.New()}}} {
		units, err := w.Units(w.ctx, ids)
		w.ok(err, "Units")
		w.same(len(units), 0, "the absent units found")
	}
	campaigns, err := w.Campaigns(w.ctx, []ads.CampaignID{{ID: id.New()}})
	w.ok(err, "Campaigns")
	advertisers, err := w.Advertisers(w.ctx, []ads.AdvertiserID{{ID: id.New()}})
	w.ok(err, "Advertisers")
	w.same(len(campaigns)+len(advertisers), 0, "the absent campaigns and advertisers found")
	added, err := w.Save(w.ctx, ads.Batch{})
	w.ok(err, "adding nothing")
	w.same(added, 0, "what is added of nothing")
}

func canceledContextEndsCalls(w *world) {
	c, zone := w.campaign(), w.zone("top")
	u := w.place(c, cpm(1), zone)
	ctx, cancel := context.WithCancel(w.ctx)
	cancel()
	for name, call := range map[string]func() error{
		"Zone":       func() error { _, err := w.Zone(ctx, zone); return err },
		"Units":      func() error { _, err := w.Units(ctx, []ads.UnitID{u}); return err },
		"Record":     func() error { _, err := w.Record(ctx, recording(ads.Click, u, zone)); return err },
		"Waiting":    func() error { _, err := w.Waiting(ctx, noon); return err },
		"Count":      func() error { _, err := w.Count(ctx, []ads.RecordingKey{{Kind: ads.Click}}, noon); return err },
		"Save":       func() error { _, err := w.Save(ctx, batch().Batch); return err },
		"SigningKey": func() error { _, err := w.SigningKey(ctx, []byte("key")); return err },
		"Reserve": func() error {
			_, err := w.Reserve(ctx, ads.Reservation{Profile: ads.ProfileID{ID: id.New()}, Count: 1, Now: noon})
			return err
		},
	} {
		err := call()
		if !errors.Is(err, context.Canceled) && !errors.Is(err, ads.ErrUnavailable) {
			w.t.Errorf("%s with an ended context: %v, want context.Canceled or ErrUnavailable", name, err)
		}
	}
	w.counts(u, 0, 0)
	w.runs(zone, u)
}
