package adstest

import (
	"slices"
	"strings"
	"time"

	"plaza/ads"
	"plaza/id"
)

var trafficCases = []testCase{
	{"TrafficAddsUp", func(w *world) { trafficAddsUp(w); puttingAgain(w); manyPutTraffic(w) }},
}

func (w *world) put(zone ads.ZoneID, currency ads.Currency, hour time.Time, asked, filled, shown int64) {
	w.t.Helper()
	t := ads.Traffic{ID: ads.TrafficID{ID: id.New()}, Zone: zone, Currency: currency, Hour: hour, Requested: asked, Filled: filled, Shown: shown}
	w.ok(w.PutTraffic(w.ctx, []ads.Traffic{t}), "PutTraffic")
}

func (w *world) traffic(r ads.TrafficRequest, want ...ads.TrafficRow) {
	w.t.Helper()
	rows, err := w.Traffic(w.ctx, r)
	w.ok(err, "Traffic")
	slices.SortFunc(rows, func(a, b ads.TrafficRow) int {
		return strings.Compare(a.Key+string(a.Currency), b.Key+string(b.Currency))
	})
	w.same(rows, want, "the traffic by "+string(r.By))
}

func trafficAddsUp(w *world) {
	foot, side, top := ads.ZoneID{Site: "a.example", Name: "foot"}, ads.ZoneID{Site: "a.example", Name: "side"}, ads.ZoneID{Site: "a.example", Name: "top"}
	hour := noon.Truncate(time.Hour)
	w.put(top, "EUR", hour, 10, 8, 6)
	w.put(top, "EUR", hour, 1, 1, 1) // counted by another server
	w.put(top, "EUR", hour.Add(time.Hour), 5, 0, 0)
	w.put(top, "", hour.Add(time.Hour), 0, 0, 2)
	w.put(side, "USD", hour, 7, 7, 7)
	w.put(foot, "EUR", hour, 3, 3, 3)
	w.put(top, "EUR", hour.Add(24*time.Hour), 100, 50, 25)
	r := ads.TrafficRequest{From: hour, To: hour.Add(24 * time.Hour), By: ads.PerHour}
	w.traffic(r,
		ads.TrafficRow{Key: ads.HourKey(hour), Currency: "EUR", Requested: 14, Filled: 12, Shown: 10},
		ads.TrafficRow{Key: ads.HourKey(hour), Currency: "USD", Requested: 7, Filled: 7, Shown: 7},
		ads.TrafficRow{Key: ads.HourKey(hour.Add(time.Hour)), Shown: 2},
		ads.TrafficRow{Key: ads.HourKey(hour.Add(time.Hour)), Currency: "EUR", Requested: 5},
	)
	r.Zones = []ads.ZoneID{side, foot}
	w.traffic(r,
		ads.TrafficRow{Key: ads.HourKey(hour), Currency: "EUR", Requested: 3, Filled: 3, Shown: 3},
		ads.TrafficRow{Key: ads.HourKey(hour), Currency: "USD", Requested: 7, Filled: 7, Shown: 7},
	)
	r.By, r.Zones, r.To = ads.PerDay, []ads.ZoneID{top}, hour.Add(48*time.Hour)
	day := noon.Truncate(24 * time.Hour)
	w.traffic(r,
		ads.TrafficRow{Key: ads.HourKey(day), Shown: 2},
		ads.TrafficRow{Key: ads.HourKey(day), Currency: "EUR", Requested: 16, Filled: 9, Shown: 7},
		ads.TrafficRow{Key: ads.HourKey(day.AddDate(0, 0, 1)), Currency: "EUR", Requested: 100, Filled: 50, Shown: 25},
	)
	r.By, r.To = ads.PerZone, hour.Add(time.Hour)
	w.traffic(r, ads.TrafficRow{Key: "a.example/top", Currency: "EUR", Requested: 11, Filled: 9, Shown: 7})
	r.Zones = []ads.ZoneID{{Site: "a.example", Name: "unknown"}}
	w.traffic(r)
}

func puttingAgain(w *world) {
	hour := noon.Truncate(time.Hour).Add(-24 * time.Hour)
	t := ads.Traffic{ID: ads.TrafficID{ID: id.New()}, Zone: ads.ZoneID{Site: "a.example", Name: "top"}, Hour: hour, Shown: 1}
	w.ok(w.PutTraffic(w.ctx, []ads.Traffic{t}), "PutTraffic")
	t.Currency, t.Requested, t.Filled, t.Shown = "EUR", 3, 2, 2
	for range 3 {
		w.ok(w.PutTraffic(w.ctx, []ads.Traffic{t}), "PutTraffic again")
	}
	w.ok(w.PutTraffic(w.ctx, nil), "PutTraffic of nothing")
	r := ads.TrafficRequest{From: hour, To: hour.Add(time.Hour), By: ads.PerZone}
	w.traffic(r, ads.TrafficRow{Key: "a.example/top", Currency: "EUR", Requested: 3, Filled: 2, Shown: 2})
}

func manyPutTraffic(w *world) {
	hour, zone := noon.Truncate(time.Hour).Add(-48*time.Hour), ads.ZoneID{Site: "a.example", Name: "top"}
	together(func(int) {
		t := ads.Traffic{ID: ads.TrafficID{ID: id.New()}, Zone: zone, Currency: "EUR", Hour: hour, Requested: 2, Filled: 1, Shown: 1}
		if err := w.PutTraffic(w.ctx, []ads.Traffic{t}); err != nil {
			w.t.Errorf("PutTraffic: %v", err)
		}
	})
	r := ads.TrafficRequest{From: hour, To: hour.Add(time.Hour), By: ads.PerHour}
	w.traffic(r, ads.TrafficRow{Key: ads.HourKey(hour), Currency: "EUR", Requested: 2 * crowd, Filled: crowd, Shown: crowd})
}
