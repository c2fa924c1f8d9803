package adstest

import (
	"slices"

	"plaza/ads"
	"plaza/id"
	"plaza/paging"
)

var listCases = []testCase{
	{"ListsReadInPages", listsReadInPages},
	{"ListsHoldWhatBelongsToTheirOwner", listsBelong},
}

func listsReadInPages(w *world) {
	c := w.campaign()
	var units, zones []paging.Key
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		zone := w.zone(name)
		u := w.place(c, cpm(1_000), zone)
		units, zones = append(units, paging.Key(u.Bytes())), append(zones, paging.Key(zone.String()))
	}
	checkPages(w, units, func(p ads.Page) []paging.Key {
		found, err := w.ListUnits(w.ctx, c.ID, p)
		w.ok(err, "ListUnits")
		var keys []paging.Key
		for _, u := range found {
			w.same(len(u.Zones), 1, "the zones of a unit in a list")
			keys = append(keys, paging.Key(u.ID.Bytes()))
		}
		return keys
	})
	checkPages(w, zones, func(p ads.Page) []paging.Key {
		found, err := w.ListZones(w.ctx, p)
		w.ok(err, "ListZones")
		var keys []paging.Key
		for _, z := range found {
			w.same(len(z.Units), 0, "the units of a zone in a list")
			keys = append(keys, paging.Key(z.ID.String()))
		}
		return keys
	})
}

// checkPages reads a list of five entries with different pages.
func checkPages(w *world, all []paging.Key, read func(ads.Page) []paging.Key) {
	for _, p := range []struct {
		page     ads.Page
		from, to int
	}{
		{ads.Page{Limit: 10}, 0, 5},
		{ads.Page{Limit: 2}, 0, 2},
		{ads.Page{Limit: 2, Last: true}, 3, 5},
		{ads.Page{Limit: 2, After: all[1]}, 2, 4},
		{ads.Page{Limit: 2, Before: all[3], Last: true}, 1, 3},
		{ads.Page{Limit: 2, Before: all[3]}, 0, 2},
		{ads.Page{Limit: 9, After: all[0], Before: all[4]}, 1, 4},
		{ads.Page{Limit: 2, After: all[4]}, 0, 0},
	} {
		if got := read(p.page); !slices.Equal(got, all[p.from:p.to]) {
			w.t.Errorf("%+v: %q, want %q", p.page, got, all[p.from:p.to])
		}
	}
}

func listsBelong(w *world) {
	c, other := w.campaign(), w.campaign()
	w.place(c, cpm(1_000))
	for _, of := range []ads.Campaign{c, other} {
		found, err := w.ListCampaigns(w.ctx, of.Advertiser, ads.Page{Limit: 9})
		w.ok(err, "ListCampaigns")
		of.Revision = 1
		w.same(found, []*ads.Campaign{&of}, "an advertiser's campaigns")
	}
	none, err := w.ListUnits(w.ctx, other.ID, ads.Page{Limit: 9})
	w.ok(err, "ListUnits")
	absent, err := w.ListCampaigns(w.ctx, ads.AdvertiserID{ID: id.New()}, ads.Page{Limit: 9})
	w.ok(err, "ListCampaigns")
	w.same(len(none)+len(absent), 0, "what is in lists of nothing")
	advertisers, err := w.ListAdvertisers(w.ctx, ads.Page{Limit: 9})
	w.ok(err, "ListAdvertisers")
	w.same(len(advertisers), 2, "the advertisers")
}
