package adstest

import (
	"slices"
	"strings"
	"time"

	"plaza/ads"
)

var reportCases = []testCase{
	{"ReportsAddUpWhatWasRecorded", reportsAddUp},
	{"RollingUpAgainChangesNothing", rollingUpAgain},
}

// traffic is what was recorded in three hours for two units: ua of campaign a pays for impressions,
// and ub of b pays for clicks.
type traffic struct {
	a, b      ads.Campaign
	ua, ub    ads.UnitID
	top, side ads.ZoneID
}

func (w *world) reported() traffic {
	a, b := w.campaign(), w.campaign()
	top, side := w.zone("top"), w.zone("side")
	ua, ub := w.place(a, cpm(1_000_000), top, side), w.place(b, cpc(500_000), top)
	for i := range 3 {
		r := recording(ads.Impression, ua, top)
		r.At, r.Cost, r.Keywords = noon, 1_000, []string{"anvil", "forge"}[:1+i%2]
		w.record(r)
	}
	r := recording(ads.Impression, ub, top)
	r.At, r.Keywords = noon.Add(time.Hour), []string{"forge"}
	w.record(r)
	r.Kind, r.Cost = ads.Click, 500_000
	w.record(r)
	r = recording(ads.Impression, ua, side)
	r.At, r.Staff, r.Cost = noon.Add(24*time.Hour), true, 1_000
	w.record(r)
	return traffic{a, b, ua, ub, top, side}
}

func (w *world) report(r ads.ReportRequest, want ...ads.ReportRow) {
	w.t.Helper()
	rows, err := w.Report(w.ctx, r)
	w.ok(err, "Report")
	order := func(a, b ads.ReportRow) int { return strings.Compare(a.Key, b.Key) }
	slices.SortFunc(rows, order)
	slices.SortFunc(want, order)
	w.same(rows, want, "the report by "+string(r.By))
}

func reportsAddUp(w *world) {
	t := w.reported()
	w.ok(w.RollUp(w.ctx, noon.Add(-time.Hour).Truncate(time.Hour), noon.Add(48*time.Hour), noon), "RollUp")
	w.ok(w.RollUp(w.ctx, noon.Add(-24*time.Hour), noon.Add(-23*time.Hour), noon.Add(-time.Hour)), "RollUp of an earlier day")
	until, stale, err := w.RolledUp(w.ctx)
	w.ok(err, "RolledUp")
	w.same(until, noon, "until when it is rolled up")
	w.same(len(stale), 0, "stale hours")
	hour := noon.Truncate(time.Hour)
	r := ads.ReportRequest{From: hour.Add(-time.Hour), To: hour.Add(25 * time.Hour)}
	row := func(key string, impressions, clicks, invalid int64, spend ads.Micros) ads.ReportRow {
		return ads.ReportRow{Key: key, Currency: "EUR", Impressions: impressions, Clicks: clicks, Invalid: invalid, Spend: spend}
	}
	day := noon.Truncate(24 * time.Hour)
	for by, want := range map[ads.Dimension][]ads.ReportRow{
		ads.PerHour: {
			row(ads.HourKey(hour), 3, 0, 0, 3_000), row(ads.HourKey(hour.Add(time.Hour)), 1, 1, 0, 500_000), row(ads.HourKey(hour.Add(24*time.Hour)), 0, 0, 1, 0),
		},
		ads.PerDay:      {row(ads.HourKey(day), 4, 1, 0, 503_000), row(ads.HourKey(day.AddDate(0, 0, 1)), 0, 0, 1, 0)},
		ads.PerCampaign: {row(t.a.ID.String(), 3, 0, 1, 3_000), row(t.b.ID.String(), 1, 1, 0, 500_000)},
		ads.PerUnit:     {row(t.ua.String(), 3, 0, 1, 3_000), row(t.ub.String(), 1, 1, 0, 500_000)},
		ads.PerZone:     {row(t.top.String(), 4, 1, 0, 503_000), row(t.side.String(), 0, 0, 1, 0)},
		ads.PerKeyword:  {row("anvil", 3, 0, 0, 3_000), row("forge", 2, 1, 0, 501_000)},
	} {
		r.By = by
		w.report(r, want...)
	}
	r.By, r.Campaign = ads.PerZone, t.b.ID
	w.report(r, row(t.top.String(), 1, 1, 0, 500_000))
	r.Campaign, r.To = ads.CampaignID{}, hour.Add(time.Hour)
	w.report(r, row(t.top.String(), 3, 0, 0, 3_000))
	r.To = hour
	rows, err := w.Report(w.ctx, r)
	w.ok(err, "Report")
	w.same(len(rows), 0, "rows of an hour without anything")
}

func rollingUpAgain(w *world) {
	t := w.reported()
	hour := noon.Truncate(time.Hour)
	r := ads.ReportRequest{From: hour, To: hour.Add(time.Hour), By: ads.PerZone}
	for range 3 {
		w.ok(w.RollUp(w.ctx, hour, hour.Add(2*time.Hour), noon), "RollUp")
		w.report(r, ads.ReportRow{Key: t.top.String(), Currency: "EUR", Impressions: 3, Spend: 3_000})
	}
	late := recording(ads.Impression, t.ua, t.top)
	late.At, late.Cost = noon, 1_000
	w.record(late)
	w.report(r, ads.ReportRow{Key: t.top.String(), Currency: "EUR", Impressions: 3, Spend: 3_000})
	w.ok(w.RollUp(w.ctx, hour, hour.Add(time.Hour), noon), "RollUp")
	w.report(r, ads.ReportRow{Key: t.top.String(), Currency: "EUR", Impressions: 4, Spend: 4_000})
}
