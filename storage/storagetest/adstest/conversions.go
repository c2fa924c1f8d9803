package adstest

import (
	"sync/atomic"
	"time"

	"plaza/ads"
)

var conversionCases = []testCase{
	{"ConversionsFollowTheirClicks", conversionsFollow},
	{"ConversionsCountWithinTheirWindow", conversionsInTime},
	{"ConversionsMayComeFirst", conversionsComeFirst},
	{"ManyRecordersOfOneConversionRecordOnce", manyConversions},
	{"ConversionsAreReportedAndRefunded", conversionsAreRefunded},
	{"TooManyClicksTakeBackTheirConversions", conversionsOfTooMany},
}

// visit is a choice with its impression, click and conversion at noon. It is not stored yet.
type visit struct{ shown, clicked, converted ads.Recording }

func newVisit(u ads.UnitID, zone ads.ZoneID) (v visit) {
	v.shown = recording(ads.Impression, u, zone)
	v.shown.At, v.shown.KeepUntil = noon, noon.Add(ads.EventLife) // longer than any attribution window
	v.clicked, v.converted = v.shown, v.shown
	v.clicked.Kind, v.clicked.WaitUntil = ads.Click, noon.Add(time.Minute)
	v.converted.Kind, v.converted.WaitUntil, v.converted.Days = ads.Conversion, noon.Add(24*time.Hour), 7
	return v
}

// converts checks a unit's conversions.
func (w *world) converts(u ads.UnitID, want int64) {
	w.t.Helper()
	w.same(w.getUnit(u).Conversions, want, "conversions of the unit")
}

func conversionsFollow(w *world) {
	c, zone := w.budgeted(ads.Budget{Total: 1_000}), w.zone("top")
	u := w.place(c, cpc(100), zone)
	v := newVisit(u, zone)
	v.converted.Cost = 300
	w.record(v.shown)
	w.record(v.clicked)
	w.same(w.record(v.converted), ads.Receipt{RecordingKey: v.converted.Key(), Campaign: c.ID, Zone: zone, Billed: 300}, "a conversion")
	w.same(w.take(v.converted), false, "whether a repetition was recorded")
	w.counts(u, 1, 1)
	w.converts(u, 1)
	w.same(w.ledger(c).Spent, ads.Micros(300), "what was spent")

	for name, step := range map[string]struct {
		change func(*visit)
		want   ads.Invalid
	}{
		"without an impression": {func(v *visit) { v.shown.Staff = true }, ads.NoClick},
		"by staff":              {func(v *visit) { v.converted.Staff = true }, ads.ByStaff},
	} {
		v := newVisit(u, zone)
		step.change(&v)
		w.record(v.shown)
		w.record(v.clicked)
		w.same(w.record(v.converted).Invalid, step.want, name)
	}
	v = newVisit(u, zone)
	w.record(v.shown)
	v.converted.WaitUntil = noon
	w.same(w.record(v.converted).Invalid, ads.NoClick, "without a click, when none can come any more")
	w.converts(u, 1)
}

func conversionsInTime(w *world) {
	c, zone := w.campaign(), w.zone("top")
	u := w.place(c, cpm(1_000), zone)
	window := 7 * 24 * time.Hour
	for after, want := range map[time.Duration]ads.Invalid{
		0: "", window: "", window + time.Millisecond: ads.TooLate, -time.Minute: "", // clocks of servers differ
	} {
		v := newVisit(u, zone)
		v.converted.At = noon.Add(after)
		w.record(v.shown)
		w.record(v.clicked)
		w.same(w.record(v.converted).Invalid, want, "a conversion after "+after.String())
	}
	w.converts(u, 3)
}

// conversionsComeFirst: a conversion waits for its click, and the click for its impression, in
// whatever order they are stored and counted.
func conversionsComeFirst(w *world) {
	c, zone := w.budgeted(ads.Budget{Total: 100_000}), w.zone("top")
	u := w.place(c, cpc(100), zone)
	for n, order := range [][3]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
		v := newVisit(u, zone)
		v.clicked.Cost = 100
		all := [3]ads.Recording{v.shown, v.clicked, v.converted}
		var counted int
		for _, i := range order {
			w.take(all[i])
			counted += len(w.count(noon, all[i]))
		}
		w.same(counted, 3, "how many were counted")
		w.counts(u, int64(n+1), int64(n+1))
		w.converts(u, int64(n+1))
	}
	w.same(w.ledger(c).Spent, ads.Micros(600), "what was spent")
	w.waits(noon.Add(48 * time.Hour))

	v := newVisit(u, zone)
	v.converted.Campaign = c.ID
	w.take(v.converted)
	w.same(len(w.count(noon, v.converted)), 0, "a conversion without its click")
	w.waits(noon.Add(time.Hour - time.Millisecond))
	w.waits(noon.Add(time.Hour), v.converted) // it is due again
	w.same(len(w.count(v.converted.WaitUntil.Add(-time.Millisecond), v.converted)), 0, "a conversion that still waits")
	w.waits(v.converted.WaitUntil, v.converted)
	receipts := w.count(v.converted.WaitUntil, v.converted)
	w.same(receipts, []ads.Receipt{{RecordingKey: v.converted.Key(), Campaign: c.ID, Zone: zone, Invalid: ads.NoClick}}, "a conversion whose click has not come")
}

func manyConversions(w *world) {
	c, zone := w.budgeted(ads.Budget{Total: 100_000}), w.zone("top")
	u := w.place(c, cpc(100), zone)
	v := newVisit(u, zone)
	v.converted.Cost = 300
	all := [3]ads.Recording{v.shown, v.clicked, v.converted}
	var recorded, counted atomic.Int64
	together(func(i int) {
		r := all[i%3]
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
	counted.Add(int64(len(w.count(noon, all[:]...)))) // those that were examined while the recording that they follow was being counted
	w.same([]int64{recorded.Load(), counted.Load()}, []int64{3, 3}, "how many calls have recorded and counted")
	w.counts(u, 1, 1)
	w.converts(u, 1)
	w.same(w.ledger(c).Spent, ads.Micros(300), "what was spent")
}

func conversionsAreRefunded(w *world) {
	c, zone := w.budgeted(ads.Budget{Total: 10_000}), w.zone("top")
	u := w.place(c, cpc(100), zone)
	person := newPerson()
	v := newVisit(u, zone)
	v.converted.Cost, v.converted.Profile, v.converted.Keywords = 300, person, []string{"anvil"}
	w.record(v.shown)
	w.record(v.clicked)
	w.record(v.converted)
	hour := noon.Truncate(time.Hour)
	r := ads.ReportRequest{From: hour, To: hour.Add(time.Hour)}
	row := ads.ReportRow{Currency: "EUR", Impressions: 1, Clicks: 1, Conversions: 1, Spend: 300}
	for _, step := range []func(){
		func() {},
		func() {
			charged, err := w.Charged(w.ctx, ads.Selection{Campaign: c.ID, From: noon, To: noon.Add(time.Hour), Person: person})
			w.ok(err, "Charged")
			charge := ads.Charge{Choice: v.converted.Choice, Kind: ads.Conversion, Unit: u, Zone: zone, At: noon, Amount: 300, Person: person}
			w.same(charged, ads.Charges{Count: 1, Amount: 300, Newest: []ads.Charge{charge}}, "what can be refunded")
			s := selectionOf(c)
			s.Kind = ads.Conversion
			w.same(w.refund(s, 1).Amount, ads.Micros(300), "what was refunded")
			row.Conversions, row.Invalid, row.Spend, row.Refunded = 0, 1, 0, 300
		},
	} {
		step()
		w.ok(w.RollUp(w.ctx, hour, hour.Add(time.Hour), hour.Add(time.Hour)), "RollUp")
		for by, key := range map[ads.Dimension]string{
			ads.PerHour: ads.HourKey(hour), ads.PerDay: ads.HourKey(noon.Truncate(24 * time.Hour)), ads.PerCampaign: c.ID.String(), ads.PerUnit: u.String(), ads.PerZone: zone.String(),
		} {
			r.By, row.Key = by, key
			w.report(r, row)
		}
		r.By = ads.PerKeyword
		w.report(r, ads.ReportRow{Key: "anvil", Currency: "EUR", Conversions: row.Conversions, Invalid: row.Invalid, Spend: row.Spend, Refunded: row.Refunded})
	}
	w.converts(u, 0)
	w.same(w.ledger(c).Spent, ads.Micros(0), "what was spent")
}

// conversionsOfTooMany: clicks cost nothing here, but there can still be too many.
func conversionsOfTooMany(w *world) {
	c, zone := w.budgeted(ads.Budget{Total: 10_000}), w.zone("top")
	u := w.place(c, cpm(1_000), zone)
	person := newPerson()
	for n := range ads.MaxPersonClicks + 1 {
		v := newVisit(u, zone)
		v.clicked.Profile, v.clicked.At = person, noon.Add(time.Duration(n)*time.Second)
		v.converted.At, v.converted.Cost = v.clicked.At, 300
		w.record(v.shown)
		w.record(v.clicked)
		w.record(v.converted)
	}
	w.counts(u, ads.MaxPersonClicks+1, 0)
	w.converts(u, 0)
	w.same(w.ledger(c).Spent, ads.Micros(0), "what was spent")
}
