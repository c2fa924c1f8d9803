package adstest

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"plaza/ads"
)

var zoneCases = []testCase{
	{"ZoneHasItsUnitsInOrder", zoneHasItsUnitsInOrder},
	{"ZonesAreKeptApart", zonesAreKeptApart},
	{"AbsentZonesAreNotFound", absentZonesAreNotFound},
	{"OneZoneHoldsManyUnits", oneZoneHoldsManyUnits},
}

func zoneHasItsUnitsInOrder(w *world) {
	c, zone := w.campaign(), w.zone("top")
	low := w.place(c, cpm(1_000_000), zone)
	high := w.place(c, cpm(3_000_000), zone)
	clicks := w.place(c, cpc(200_000), zone) // 2.00
	tied := w.place(c, cpm(2_000_000), zone) // added later: a higher id
	highest := w.place(c, cpm(ads.MaxBid), zone)
	w.runs(zone, highest, high, clicks, tied, low)
}

func zonesAreKeptApart(w *world) {
	c := w.campaign()
	ids := []ads.ZoneID{{Site: "a", Name: "bc"}, {Site: "ab", Name: "c"}, {Site: "a", Name: "b"}, {Site: "a.b", Name: "c"}, {Site: "b", Name: "a"}}
	for _, zone := range ids {
		w.add(ads.Batch{Zones: []ads.Zone{{ID: zone, Currency: "EUR", Design: ads.ByZone}}})
	}
	for i, zone := range ids {
		u := w.place(c, cpm(ads.Micros(i+1)), zone)
		w.runs(zone, u)
	}
	z, err := w.Zone(w.ctx, ids[0])
	w.ok(err, "Zone")
	w.same(z.ID, ids[0], "the zone's name")
}

func absentZonesAreNotFound(w *world) {
	w.zone("top")
	for _, zone := range []ads.ZoneID{{Site: "example.org", Name: "none"}, {Site: "example.net", Name: "top"}, {}} {
		z, err := w.Zone(w.ctx, zone)
		w.fails(err, ads.ErrNotFound, fmt.Sprintf("Zone(%v)", zone))
		if z != nil {
			w.t.Errorf("Zone(%v) is %+v", zone, z)
		}
	}
}

func oneZoneHoldsManyUnits(w *world) {
	campaigns := []ads.Campaign{w.campaign(), w.campaign(), w.campaign()}
	zone := w.zone("top")
	order := rand.New(rand.NewPCG(1, 2)).Perm(ads.MaxZoneUnits) //nolint:gosec // the same order each time
	want := make([]ads.UnitID, ads.MaxZoneUnits)
	for some := range slices.Chunk(order, 300) {
		var b ads.Batch
		for _, i := range some {
			u := unit(campaigns[i%3], cpm(ads.Micros(ads.MaxZoneUnits-i)), zone)
			want[i] = u.ID
			b.Units = append(b.Units, u)
		}
		w.add(b)
	}
	w.runs(zone, want...)

	if _, err := w.pause(campaigns[1].ID); err != nil {
		w.t.Fatal(err)
	}
	var rest []ads.UnitID
	for i, u := range want {
		if i%3 != 1 {
			rest = append(rest, u)
		}
	}
	w.runs(zone, rest...)
	if _, err := w.resume(campaigns[1].ID); err != nil {
		w.t.Fatal(err)
	}
	w.runs(zone, want...)
}
