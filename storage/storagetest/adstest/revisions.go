package adstest

import (
	"errors"
	"sync/atomic"
	"time"

	"plaza/ads"
	"plaza/id"
)

var revisionCases = []testCase{
	{"SaveReplacesTheRevisionThatItWasGiven", saveReplaces},
	{"SaveRefusesOtherRevisions", saveRefusesOtherRevisions},
	{"ConcurrentSavesOfOneRevisionSucceedOnce", manySaveOneRevision},
	{"ZonesShowWhatIsSaved", zonesShowWhatIsSaved},
	{"UnitsMoveBetweenZones", unitsMove},
	{"StatesOfUnitsCount", statesOfUnitsCount},
	{"ArchivedUnitsLeaveRoom", archivedUnitsLeaveRoom},
	{"BudgetsHaveTheirUnitsCurrency", budgetsHaveOneCurrency},
	{"CampaignsHaveOneCurrency", campaignsHaveOneCurrency},
	{"MixedCampaignsKeepTheirCurrencies", mixedCampaignsGoOn},
}

// noon is a moment that every engine can store.
var noon = time.Date(2026, 11, 22, 12, 0, 0, 123_000_000, time.UTC)

func saveReplaces(w *world) {
	b := batch()
	w.add(b.Batch)
	a, c, z, u := b.Advertisers[0], b.Campaigns[0], b.Zones[0], b.Units[0]
	a.Revision, c.Revision, z.Revision, u.Revision = 1, 1, 1, 1
	a.Name, a.Caps = "Acme & Co", []ads.Cap{{Count: 9, Per: ads.Lifetime}}
	c.Name, c.House = "Summer", true
	c.Caps = []ads.Cap{{Count: 1, Per: ads.Hour}, {Count: 5, Per: ads.Week}}
	c.Schedule = ads.Schedule{
		Start: noon, End: noon.Add(time.Hour), TimeZone: "Europe/Berlin", Weekdays: ads.On(time.Monday, time.Sunday), FromHour: 8, ToHour: 24,
	}
	z.Design = ads.ByFrequency
	u.Headline, u.Bid, u.Keywords, u.Weight = "Anvils", cpc(70_000), []string{"anvil", "heavy load"}, 3
	u.KeywordWeights = []ads.KeywordWeight{{Keyword: "anvil", Weight: ads.MaxWeight}, {Keyword: "heavy load", Weight: 1}}
	u.Caps = []ads.Cap{{Count: 2, Per: ads.Day}}
	saved, err := w.Save(w.ctx, ads.Batch{Advertisers: []ads.Advertiser{a}, Campaigns: []ads.Campaign{c}, Zones: []ads.Zone{z}, Units: []ads.Unit{u}})
	w.ok(err, "Save")
	w.same(saved, 4, "what was saved")

	a.Revision, c.Revision, z.Revision, u.Revision = 2, 2, 2, 2
	advertisers, err := w.Advertisers(w.ctx, []ads.AdvertiserID{a.ID})
	w.ok(err, "Advertisers")
	w.same(advertisers[a.ID], &a, "the advertiser")
	campaigns, err := w.Campaigns(w.ctx, []ads.CampaignID{c.ID})
	w.ok(err, "Campaigns")
	w.same(campaigns[c.ID], &c, "the campaign")
	w.same(w.getUnit(u.ID), &u, "the unit")
	zone, err := w.Zone(w.ctx, z.ID)
	w.ok(err, "Zone")
	z.Units = []ads.RunningUnit{ads.Running(&u, &c, &a)}
	w.same(zone, &z, "the zone")
}

func saveRefusesOtherRevisions(w *world) {
	b := batch()
	w.add(b.Batch)
	for _, revision := range []int{2, -1} {
		a, c, z, u := b.Advertisers[0], b.Campaigns[0], b.Zones[0], b.Units[0]
		a.Revision, c.Revision, z.Revision, u.Revision = revision, revision, revision, revision
		absent := a
		absent.ID = ads.AdvertiserID{ID: id.New()}
		for name, other := range map[string]ads.Batch{
			"advertiser": {Advertisers: []ads.Advertiser{a}}, "absent": {Advertisers: []ads.Advertiser{absent}},
			"campaign": {Campaigns: []ads.Campaign{c}}, "zone": {Zones: []ads.Zone{z}}, "unit": {Units: []ads.Unit{u}},
		} {
			_, err := w.Save(w.ctx, other)
			w.fails(err, ads.ErrConflict, name)
		}
	}
}

func manySaveOneRevision(w *world) {
	c := w.campaign()
	u := w.place(c, cpm(1_000), w.zone("top"))
	unit := *w.getUnit(u)
	var saved atomic.Int64
	together(func(int) {
		switch _, err := w.Save(w.ctx, ads.Batch{Units: []ads.Unit{unit}}); {
		case err == nil:
			saved.Add(1)
		case !errors.Is(err, ads.ErrConflict):
			w.t.Errorf("Save: %v", err)
		}
	})
	w.same(saved.Load(), int64(1), "how many have saved one revision")
	w.same(w.getUnit(u).Revision, 2, "the revision")
}

func zonesShowWhatIsSaved(w *world) {
	c, zone := w.campaign(), w.zone("top")
	low, high := w.place(c, cpm(1_000), zone), w.place(c, cpm(2_000), zone)
	w.runs(zone, high, low)
	unit := *w.getUnit(low)
	unit.Bid = cpm(3_000)
	w.add(ads.Batch{Units: []ads.Unit{unit}})
	w.runs(zone, low, high)

	found, err := w.Advertisers(w.ctx, []ads.AdvertiserID{c.Advertiser})
	w.ok(err, "Advertisers")
	found[c.Advertiser].Name = "Bolt"
	w.add(ads.Batch{Advertisers: []ads.Advertiser{*found[c.Advertiser]}})
	stored, err := w.Zone(w.ctx, zone)
	w.ok(err, "Zone")
	for _, r := range stored.Units {
		w.same(r.Advertiser, "Bolt", "the advertiser's name in the zone")
	}
}

func unitsMove(w *world) {
	c := w.campaign()
	top, side, foot := w.zone("top"), w.zone("side"), w.zone("foot")
	u := w.place(c, cpc(1_000_000), top, side)
	w.record(recording(ads.Impression, u, top))
	unit := *w.getUnit(u)
	unit.Zones = []ads.ZoneID{foot, side}
	w.add(ads.Batch{Units: []ads.Unit{unit}})
	w.runs(top)
	w.runs(side, u)
	w.runs(foot, u)
	w.counts(u, 1, 0)
	unit.Revision, unit.Zones = 2, nil
	w.add(ads.Batch{Units: []ads.Unit{unit}})
	for _, zone := range []ads.ZoneID{top, side, foot} {
		w.runs(zone)
	}
	w.counts(u, 1, 0)
}

func statesOfUnitsCount(w *world) {
	c, zone := w.campaign(), w.zone("top")
	u, rest := w.place(c, cpm(2_000), zone), w.place(c, cpm(1_000), zone)
	for _, state := range []ads.State{ads.Paused, ads.Archived, ads.Active} {
		unit := *w.getUnit(u)
		unit.State = state
		w.add(ads.Batch{Units: []ads.Unit{unit}})
		if state == ads.Active {
			w.runs(zone, u, rest)
		} else {
			w.runs(zone, rest)
		}
	}
	if _, err := w.pause(c.ID); err != nil {
		w.t.Fatal(err)
	}
	unit := *w.getUnit(u)
	unit.Headline = "Still paused"
	w.add(ads.Batch{Units: []ads.Unit{unit}})
	w.runs(zone)
}

func archivedUnitsLeaveRoom(w *world) {
	c, zone := w.campaign(), w.zone("top")
	var b ads.Batch
	for range ads.MaxZoneUnits {
		b.Units = append(b.Units, unit(c, cpm(1_000), zone))
	}
	w.add(b)
	one := ads.Batch{Units: []ads.Unit{unit(c, cpm(1_000), zone)}}
	_, err := w.Save(w.ctx, one)
	w.fails(err, ads.ErrFull, "one unit more")
	old := *w.getUnit(b.Units[0].ID)
	old.State = ads.Archived
	w.add(ads.Batch{Units: []ads.Unit{old}})
	w.add(one)
	old.Revision, old.State = 2, ads.Paused
	_, err = w.Save(w.ctx, ads.Batch{Units: []ads.Unit{old}})
	w.fails(err, ads.ErrFull, "taking a unit out of the archive")
}

func budgetsHaveOneCurrency(w *world) {
	c := w.campaign()
	w.place(c, cpm(1_000), w.zone("top"))
	c.Revision, c.Budget = 1, ads.Budget{Currency: "USD", Total: 1}
	_, err := w.Save(w.ctx, ads.Batch{Campaigns: []ads.Campaign{c}})
	w.fails(err, ads.ErrCurrency, "a budget in another currency than its units")
	dollars := ads.Campaign{ID: ads.CampaignID{ID: id.New()}, Advertiser: c.Advertiser, Name: "US", State: ads.Active, Budget: ads.Budget{Currency: "USD", Daily: 1}}
	w.add(ads.Batch{Campaigns: []ads.Campaign{dollars}})
	_, err = w.Save(w.ctx, ads.Batch{Units: []ads.Unit{unit(dollars, cpm(1_000))}})
	w.fails(err, ads.ErrCurrency, "a unit in another currency than its budget")
}

func campaignsHaveOneCurrency(w *world) {
	c := w.campaign()
	euros, dollars := cpm(1_000), ads.Bid{Model: ads.CPM, Price: 1_000, Currency: "USD"}
	_, err := w.Save(w.ctx, ads.Batch{Units: []ads.Unit{unit(c, euros), unit(c, dollars)}})
	w.fails(err, ads.ErrCurrency, "two currencies in one batch")
	together(func(i int) {
		bid := euros
		if i%2 == 0 {
			bid = dollars
		}
		if _, err := w.Save(w.ctx, ads.Batch{Units: []ads.Unit{unit(c, bid)}}); err != nil {
			w.fails(err, ads.ErrCurrency, "another currency than the first unit's")
		}
	})
	units, err := w.ListUnits(w.ctx, c.ID, ads.Page{Limit: crowd})
	w.ok(err, "ListUnits")
	w.same(len(units), crowd/2, "the units in the currency of the first")
	for _, u := range units {
		w.same(u.Bid.Currency, units[0].Bid.Currency, "the currency of all")
	}
}

// mixedCampaignsGoOn is about campaigns with several currencies, which earlier versions have stored.
func mixedCampaignsGoOn(w *world) {
	c := w.campaign()
	in := func(currency ads.Currency) ads.Unit {
		return unit(c, ads.Bid{Model: ads.CPM, Price: 1_000, Currency: currency})
	}
	first, second := in("EUR"), in("EUR")
	w.add(ads.Batch{Units: []ads.Unit{first, second}})
	second.Revision, second.Bid.Currency = 1, "USD"
	w.add(ads.Batch{Units: []ads.Unit{second}})
	w.add(ads.Batch{Units: []ads.Unit{in("USD"), in("EUR"), in("USD")}})
	first.Revision, first.Headline = 1, "Still there"
	w.add(ads.Batch{Units: []ads.Unit{first}})
	_, err := w.Save(w.ctx, ads.Batch{Units: []ads.Unit{in("EUR"), in("GBP")}})
	w.fails(err, ads.ErrCurrency, "a third currency")
}
