package adstest

import (
	"testing"
	"time"

	"plaza/ads"
	"plaza/id"
	"plaza/paging"
)

// CallEverything calls every method in every variant, for tests that observe what an engine does.
func CallEverything(t *testing.T, store ads.Store) {
	t.Helper()
	w := &world{Store: store, t: t, ctx: t.Context()}
	saveReplaces(w)
	c, zone := w.budgeted(ads.Budget{Total: 1_000_000, Daily: 10_000}), w.zone("elsewhere")
	u := w.place(c, cpc(1_000), zone)
	weighted := unit(c, cpc(2_000), zone)
	weighted.Keywords, weighted.KeywordWeights = []string{"anvil"}, []ads.KeywordWeight{{Keyword: "anvil", Weight: 5}}
	w.add(ads.Batch{Units: []ads.Unit{weighted}})
	if _, err := w.pause(c.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := w.resume(c.ID); err != nil {
		t.Fatal(err)
	}
	for _, p := range []ads.Page{{Limit: 5}, {Limit: 5, After: paging.Key(c.ID.Bytes()), Before: paging.Key(id.New().Bytes()), Last: true}} {
		_, err := w.ListAdvertisers(w.ctx, p)
		w.ok(err, "ListAdvertisers")
		_, err = w.ListCampaigns(w.ctx, c.Advertiser, p)
		w.ok(err, "ListCampaigns")
		_, err = w.ListUnits(w.ctx, c.ID, p)
		w.ok(err, "ListUnits")
		if p.After != "" {
			p.After, p.Before = "a/a", "z/z"
		}
		_, err = w.ListZones(w.ctx, p)
		w.ok(err, "ListZones")
	}
	lease := w.lease(leaseOf(c, 1_000, noon))
	person := w.user("ada")
	w.reserve(ads.Reservation{Profile: person, Count: 1, Now: noon, Candidates: []ads.Candidate{candidate(anAdvertiser(), capOf(id.New(), 1, ads.Day))}}, 0)
	for _, kind := range ads.Kinds() {
		r := recording(kind, u, zone)
		r.Profile, r.Address, r.Lease, r.Cost, r.At = person, newPerson(), lease.ID, 10, noon
		w.record(r)
	}
	r := recording(ads.Impression, u, zone)
	r.Profile, r.Address, r.Lease, r.Cost, r.At = person, newPerson(), lease.ID, 10, noon
	w.record(r)
	for _, kind := range []ads.Kind{ads.Click, ads.Conversion} {
		r.Kind = kind
		w.record(r)
	}
	for _, kind := range ads.Kinds() { // these stay as they are
		r := recording(kind, u, zone)
		r.Profile, r.Address, r.Lease, r.Cost, r.At, r.WaitUntil = person, newPerson(), lease.ID, 10, noon, noon.Add(time.Hour)
		w.take(r)
		if kind != ads.Impression {
			w.count(noon, r)
		}
	}
	_, err := w.Waiting(w.ctx, noon)
	w.ok(err, "Waiting")
	for _, kind := range []ads.Kind{ads.Click, ads.Conversion} {
		_, err = w.Expect(w.ctx, ads.Expectation{Campaign: c.ID, Kind: kind, Price: 1_000, Each: 10, Count: 1, Now: noon})
		w.ok(err, "Expect")
	}
	w.ok(w.Return(w.ctx, ads.Return{Lease: *lease, Used: 500}), "Return")
	_, err = w.Settle(w.ctx, lease.SettleAt)
	w.ok(err, "Settle")
	w.lease(leaseOf(c, 1_000, noon.Add(time.Hour)))
	w.ok(w.RollUp(w.ctx, noon.Truncate(time.Hour), noon.Add(time.Hour), noon), "RollUp")
	_, _, err = w.RolledUp(w.ctx)
	w.ok(err, "RolledUp")
	_, err = w.Oldest(w.ctx)
	w.ok(err, "Oldest")
	w.callRefunds(c, u, zone)
	w.callTraffic(zone)
	for _, by := range []ads.Dimension{ads.PerHour, ads.PerDay, ads.PerCampaign, ads.PerUnit, ads.PerZone, ads.PerKeyword} {
		r := ads.ReportRequest{From: noon.Truncate(time.Hour), To: noon.Add(time.Hour), By: by}
		_, err = w.Report(w.ctx, r)
		w.ok(err, "Report")
		r.Campaign = c.ID
		_, err = w.Report(w.ctx, r)
		w.ok(err, "Report")
	}
	_, err = w.Profile(w.ctx, person)
	w.ok(err, "Profile")
	w.ledger(c)
	w.forget("ada")
}

// callRefunds refunds by each kind of selection, and refunds a person's excessive clicks.
func (w *world) callRefunds(c ads.Campaign, u ads.UnitID, zone ads.ZoneID) {
	person := newPerson()
	for range ads.MaxPersonClicks + 1 {
		r := w.click(u, zone, 10, func(r *ads.Recording) { r.Profile = person })
		r.Kind = ads.Conversion
		w.record(r)
	}
	for _, change := range []func(*ads.Selection, *ads.Recording){
		func(*ads.Selection, *ads.Recording) {},
		func(s *ads.Selection, r *ads.Recording) { s.Unit, s.Kind = r.Unit, ads.Click },
		func(s *ads.Selection, r *ads.Recording) { s.Choice = r.Choice },
		func(s *ads.Selection, r *ads.Recording) { s.Person = r.Profile },
		func(s *ads.Selection, r *ads.Recording) { s.Address = r.Address },
	} {
		r := w.click(u, zone, 10, func(r *ads.Recording) { r.Profile, r.Address = newPerson(), newPerson() })
		s := selectionOf(c)
		change(&s, &r)
		_, err := w.Charged(w.ctx, s)
		w.ok(err, "Charged")
		w.refund(s, 1)
	}
	_, err := w.Unfinished(w.ctx)
	w.ok(err, "Unfinished")
	for _, p := range []ads.Page{{Limit: 5}, {Limit: 5, After: paging.Key(c.ID.Bytes()), Before: paging.Key(id.New().Bytes()), Last: true}} {
		_, err = w.ListRefunds(w.ctx, c.ID, p)
		w.ok(err, "ListRefunds")
	}
}

func (w *world) callTraffic(zone ads.ZoneID) {
	hour := noon.Truncate(time.Hour)
	w.ok(w.PutTraffic(w.ctx, []ads.Traffic{{ID: ads.TrafficID{ID: id.New()}, Zone: zone, Currency: "EUR", Hour: hour, Requested: 3, Filled: 2, Shown: 1}}), "PutTraffic")
	for _, by := range []ads.Dimension{ads.PerHour, ads.PerDay, ads.PerZone} {
		for _, zones := range [][]ads.ZoneID{nil, {zone, {Site: "example.org", Name: "unknown"}}} {
			_, err := w.Traffic(w.ctx, ads.TrafficRequest{From: hour, To: hour.Add(time.Hour), By: by, Zones: zones})
			w.ok(err, "Traffic")
		}
	}
}
