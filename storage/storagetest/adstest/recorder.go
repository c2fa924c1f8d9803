package adstest

import (
	"sync/atomic"
	"time"

	"plaza/ads"
	"plaza/id"
)

var recorderCases = []testCase{
	{"RecordCountsByKind", recordCountsByKind},
	{"RecordCountsAChoiceOnce", recordCountsAChoiceOnce},
	{"RecordMovesUnitsInAllZones", recordMovesUnits},
	{"RecordingsOfAbsentUnitsAreRemoved", recordNeedsTheUnit},
	{"RecordingsWaitToBeCounted", recordingsWait},
	{"ClicksMayComeBeforeTheirImpressions", clicksComeFirst},
	{"TooManyClicksInvalidateWaitingOnes", burstsEndWaiting},
	{"ManyRecordersOfOneChoiceRecordOnce", manyRecordersOfOneChoice},
	{"ManyRecordersOfOneUnitAreAllCounted", manyRecordersOfOneUnit},
	{"ManyRecordersInOneZoneKeepItsOrder", manyRecordersInOneZone},
}

func recordCountsByKind(w *world) {
	c, zone := w.campaign(), w.zone("top")
	u, other := w.place(c, cpc(1_000_000), zone), w.place(c, cpc(1_000_000), zone)
	r := recording(ads.Impression, u, zone)
	w.record(r)
	w.counts(u, 1, 0)
	r.Kind = ads.Click // the same choice
	w.record(r)
	w.counts(u, 1, 1)
	w.record(recording(ads.Impression, u, zone))
	w.counts(u, 2, 1)
	w.counts(other, 0, 0)
}

func recordCountsAChoiceOnce(w *world) {
	c, zone := w.campaign(), w.zone("top")
	u := w.place(c, cpm(1), zone)
	r := recording(ads.Impression, u, zone)
	for _, kind := range []ads.Kind{ads.Impression, ads.Click} {
		r.Kind = kind
		w.record(r)
		for range 3 {
			w.same(w.take(r), false, "whether a repetition was recorded")
		}
	}
	w.counts(u, 1, 1)
}

func recordMovesUnits(w *world) {
	c := w.campaign()
	top, side, foot := w.zone("top"), w.zone("side"), w.zone("foot")
	first := w.place(c, cpc(500_000), top, side)    // 5.00
	second := w.place(c, cpc(495_000), top, side)   // 4.95
	steady := w.place(c, cpm(4_970_000), top, foot) // 4.97
	w.runs(top, first, steady, second)
	for range 50 {
		w.record(recording(ads.Impression, first, top)) // 5.00 / 1.1
	}
	w.runs(top, steady, second, first)
	w.runs(side, second, first)
	w.runs(foot, steady)
	r := recording(ads.Impression, second, side)
	w.record(r)
	r.Kind = ads.Click
	w.record(r) // 4.95 × 6/5.01
	w.runs(top, second, steady, first)
	w.counts(first, 50, 0)
	w.counts(second, 1, 1)
}

func recordNeedsTheUnit(w *world) {
	c, zone := w.campaign(), w.zone("top")
	r := recording(ads.Impression, ads.UnitID{ID: id.New()}, zone)
	w.same(w.take(r), true, "whether it was taken")
	w.same(len(w.count(r.At, r)), 0, "what was counted")
	waiting, err := w.Waiting(w.ctx, r.At)
	w.ok(err, "Waiting")
	w.same(len(waiting), 0, "what waits")
	r.Unit = w.place(c, cpm(1), zone)
	w.record(r) // nothing is left of the first lease
}

func manyRecordersOfOneChoice(w *world) {
	c, zone := w.campaign(), w.zone("top")
	u := w.place(c, cpc(1_000_000), zone)
	r := recording(ads.Impression, u, zone)
	for _, kind := range []ads.Kind{ads.Impression, ads.Click} {
		r.Kind = kind
		var recorded, counted atomic.Int64
		together(func(int) {
			once, err := w.Record(w.ctx, r)
			if err != nil {
				w.t.Errorf("Record: %v", err)
			}
			if once {
				recorded.Add(1)
			}
			receipts, err := w.Count(w.ctx, []ads.RecordingKey{r.Key()}, r.At)
			if err != nil {
				w.t.Errorf("Count: %v", err)
			}
			counted.Add(int64(len(receipts)))
		})
		w.same([]int64{recorded.Load(), counted.Load()}, []int64{1, 1}, "how many calls have recorded and counted")
	}
	w.counts(u, 1, 1)
}

// manyRecordersOfOneUnit records one choice for each caller, twice.
func manyRecordersOfOneUnit(w *world) {
	c, zone := w.budgeted(ads.Budget{Total: 1_000_000}), w.zone("top")
	u := w.place(c, cpc(1_000), zone)
	var recorded, counted atomic.Int64
	together(func(i int) {
		r := recording(ads.Impression, u, zone)
		for call := range 4 {
			if call == 2 && i%4 == 0 {
				r.Kind, r.Cost = ads.Click, 1_000
			}
			once, err := w.Record(w.ctx, r)
			if err != nil {
				w.t.Errorf("Record: %v", err)
			}
			if once {
				recorded.Add(1)
			}
			receipts, err := w.Count(w.ctx, []ads.RecordingKey{r.Key()}, r.At)
			if err != nil {
				w.t.Errorf("Count: %v", err)
			}
			counted.Add(int64(len(receipts)))
		}
	})
	w.same([]int64{recorded.Load(), counted.Load()}, []int64{crowd + crowd/4, crowd + crowd/4}, "what all have recorded and counted")
	w.counts(u, crowd, crowd/4)
	w.same(w.ledger(c).Spent, ads.Micros(crowd/4*1_000), "what was spent")
}

// recordingsWait: until recordings are counted, the only change is that they wait.
func recordingsWait(w *world) {
	c, zone := w.budgeted(ads.Budget{Total: 10_000}), w.zone("top")
	u := w.place(c, cpm(1_000_000), zone)
	first, second := recording(ads.Impression, u, zone), recording(ads.Impression, u, zone)
	first.At, first.Cost, first.Campaign = noon, 1_000, c.ID
	second.At, second.Cost, second.Campaign = noon.Add(time.Second), 1_000, c.ID
	w.take(second)
	w.take(first)
	w.counts(u, 0, 0)
	w.same(w.ledger(c), ads.Ledger{}, "the ledger")
	hour := noon.Truncate(time.Hour)
	of := ads.ReportRequest{From: hour, To: hour.Add(time.Hour), By: ads.PerCampaign}
	w.ok(w.RollUp(w.ctx, hour, hour.Add(time.Hour), hour.Add(time.Hour)), "RollUp")
	w.report(of)
	w.waits(noon.Add(-time.Millisecond))
	w.waits(noon, first)
	w.waits(noon.Add(time.Hour), first, second)

	w.same(len(w.count(noon, first, second)), 2, "how many were counted")
	w.waits(noon.Add(time.Hour))
	w.counts(u, 2, 0)
	w.same(w.ledger(c).Spent, ads.Micros(2_000), "what was spent")
	w.stale()
	w.ok(w.RollUp(w.ctx, hour, hour.Add(time.Hour), hour.Add(time.Hour)), "RollUp")
	w.report(of, ads.ReportRow{Key: c.ID.String(), Currency: "EUR", Impressions: 2, Spend: 2_000})

	late := recording(ads.Impression, u, zone)
	late.At, late.Cost = noon, 1_000
	w.take(late)
	w.same(len(w.count(noon.Add(2*time.Hour), late)), 1, "how many were counted late")
	w.stale(hour)
}

// waits checks which waiting recordings were due at a time, in order.
func (w *world) waits(due time.Time, want ...ads.Recording) {
	w.t.Helper()
	waiting, err := w.Waiting(w.ctx, due)
	w.ok(err, "Waiting")
	var all []ads.Waiting
	for i := range want {
		all = append(all, ads.Waiting{RecordingKey: want[i].Key(), Campaign: want[i].Campaign})
	}
	w.same(waiting, all, "what waits")
}

// stale checks which hours are marked to be added up again.
func (w *world) stale(want ...time.Time) {
	w.t.Helper()
	_, stale, err := w.RolledUp(w.ctx)
	w.ok(err, "RolledUp")
	w.same(append([]time.Time(nil), stale...), want, "stale hours")
}

// clicksComeFirst: a click waits for its impression as long as that may arrive, and no longer.
func clicksComeFirst(w *world) {
	c, zone := w.budgeted(ads.Budget{Total: 10_000}), w.zone("top")
	u := w.place(c, cpc(200), zone)
	pair := func() (shown, clicked ads.Recording) {
		shown = recording(ads.Impression, u, zone)
		shown.At, shown.Campaign = noon.Add(time.Minute), c.ID
		clicked = shown
		clicked.Kind, clicked.At, clicked.Cost, clicked.WaitUntil = ads.Click, noon, 200, noon.Add(time.Hour)
		return shown, clicked
	}
	shown, clicked := pair()
	w.take(clicked)
	w.same(len(w.count(noon, clicked)), 0, "a click without its impression")
	w.waits(noon.Add(time.Hour - time.Millisecond))
	w.waits(noon.Add(time.Hour), clicked)
	w.counts(u, 0, 0)
	w.take(shown)
	receipts := w.count(noon.Add(time.Minute), shown)
	w.same(len(receipts), 2, "the impression, and the click that has waited for it")
	w.counts(u, 1, 1)
	w.same(w.ledger(c).Spent, ads.Micros(200), "what was spent")
	w.waits(noon.Add(2 * time.Hour))

	shown, clicked = pair()
	w.take(clicked)
	w.take(shown)
	w.same(len(w.count(noon, clicked)), 2, "a click, and its impression that has not been counted either")
	w.counts(u, 2, 2)

	_, clicked = pair()
	w.take(clicked)
	w.same(len(w.count(noon.Add(time.Hour-time.Millisecond), clicked)), 0, "a click that still waits")
	receipts = w.count(noon.Add(time.Hour), clicked)
	w.same(receipts, []ads.Receipt{{RecordingKey: clicked.Key(), Campaign: c.ID, Zone: zone, Invalid: ads.NoImpression}}, "a click whose impression has not come")
	w.counts(u, 2, 2)

	shown, clicked = pair()
	shown.Staff = true
	w.take(clicked)
	w.count(noon, clicked)
	w.take(shown)
	w.count(noon, shown)
	w.waits(noon.Add(2 * time.Hour))
	w.counts(u, 2, 2)
}

// burstsEndWaiting: clicks before one that is TooMany become TooMany, whether or not they have been
// counted.
func burstsEndWaiting(w *world) {
	c, other, zone := w.budgeted(ads.Budget{Total: 100_000}), w.budgeted(ads.Budget{Total: 100_000}), w.zone("top")
	u, theirs := w.place(c, cpc(100), zone), w.place(other, cpc(7), zone)
	person := newPerson()
	click := func(n int, u ads.UnitID, cost ads.Micros) ads.Recording {
		r := recording(ads.Impression, u, zone)
		r.Profile, r.At = person, noon.Add(time.Duration(n)*time.Second)
		w.record(r)
		r.Kind, r.Cost = ads.Click, cost
		w.take(r)
		return r
	}
	first := click(0, theirs, 7)
	last := first
	for n := range ads.MaxPersonClicks {
		if last = click(1+n, u, 100); n%2 == 0 {
			w.count(last.At, last)
		}
	}
	w.count(last.At, last)
	w.same(len(w.count(last.At, first)), 0, "the first click counted again")
	after := click(20, u, 100)
	w.same(w.count(after.At, after)[0].Invalid, ads.TooMany, "the click after")
	w.same(w.ledger(c).Spent+w.ledger(other).Spent, ads.Micros(0), "what was spent")
	w.counts(u, ads.MaxPersonClicks+1, 0)
	w.waits(noon.Add(time.Hour))
}

func manyRecordersInOneZone(w *world) {
	c, zone, side := w.campaign(), w.zone("top"), w.zone("side")
	units := make([]ads.UnitID, 8)
	for i := range units {
		units[i] = w.place(c, cpc(ads.Micros(1_000_000+i)), zone, side)
	}
	together(func(i int) {
		r := recording(ads.Impression, units[i%len(units)], zone)
		for _, kind := range []ads.Kind{ads.Impression, ads.Click} {
			if r.Kind = kind; kind == ads.Click && i%3 != 0 {
				continue
			}
			if _, err := w.Record(w.ctx, r); err != nil {
				w.t.Errorf("Record: %v", err)
			}
			if _, err := w.Count(w.ctx, []ads.RecordingKey{r.Key()}, r.At); err != nil {
				w.t.Errorf("Count: %v", err)
			}
		}
	})
	var total int64
	for _, u := range units {
		unit := w.getUnit(u)
		total += unit.Impressions + unit.Clicks
		w.counts(u, unit.Impressions, unit.Clicks)
	}
	w.same(total, int64(crowd+(crowd+2)/3), "what was counted")
	w.same(len(w.running(zone)), len(units), "the units that run")
	w.same(w.running(side), w.running(zone), "the order in both zones")
}
