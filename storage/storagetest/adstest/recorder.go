package adstest

import (
	"sync/atomic"

	"plaza/ads"
	"plaza/id"
)

var recorderCases = []testCase{
	{"RecordCountsByKind", recordCountsByKind},
	{"RecordCountsAChoiceOnce", recordCountsAChoiceOnce},
	{"RecordMovesUnitsInAllZones", recordMovesUnits},
	{"RecordNeedsTheUnit", recordNeedsTheUnit},
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
			receipt, err := w.Record(w.ctx, r)
			w.ok(err, "Record again")
			w.same(receipt, ads.Receipt{}, "what became of a repetition")
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
	receipt, err := w.Record(w.ctx, r)
	w.fails(err, ads.ErrNotFound, "recording an absent unit")
	w.same(receipt, ads.Receipt{}, "what became of it")
	r.Unit = w.place(c, cpm(1), zone)
	w.record(r) // the refused call has left nothing behind
}

func manyRecordersOfOneChoice(w *world) {
	c, zone := w.campaign(), w.zone("top")
	u := w.place(c, cpc(1_000_000), zone)
	r := recording(ads.Impression, u, zone)
	for _, kind := range []ads.Kind{ads.Impression, ads.Click} {
		r.Kind = kind
		var recorded atomic.Int64
		together(func(int) {
			receipt, err := w.Record(w.ctx, r)
			if err != nil {
				w.t.Errorf("Record: %v", err)
			}
			if receipt.Recorded {
				recorded.Add(1)
			}
		})
		w.same(recorded.Load(), int64(1), "how many calls have recorded")
	}
	w.counts(u, 1, 1)
}

// manyRecordersOfOneUnit records a choice for each caller, twice.
func manyRecordersOfOneUnit(w *world) {
	c, zone := w.campaign(), w.zone("top")
	u := w.place(c, cpc(1_000_000), zone)
	var recorded atomic.Int64
	together(func(i int) {
		r := recording(ads.Impression, u, zone)
		for call := range 4 {
			if call == 2 && i%4 == 0 {
				r.Kind = ads.Click
			}
			receipt, err := w.Record(w.ctx, r)
			if err != nil {
				w.t.Errorf("Record: %v", err)
			}
			if receipt.Recorded {
				recorded.Add(1)
			}
		}
	})
	w.same(recorded.Load(), int64(crowd+crowd/4), "how many calls have recorded")
	w.counts(u, crowd, crowd/4)
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
