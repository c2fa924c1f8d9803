package adstest

import (
	"slices"
	"sync/atomic"
	"time"

	"plaza/ads"
	"plaza/id"
)

var refundCases = []testCase{
	{"SelectionsPickWhatWasBilled", selectionsPick},
	{"RefundsGiveTheMoneyBackOnce", func(w *world) { refundsGiveBack(w); refundsOfAnotherDay(w) }},
	{"RefundsAreCutIntoPiecesAndListed", func(w *world) { refundsInPieces(w); refundsAreListed(w) }},
	{"ConcurrentRefundsRefundOnce", manyRefund},
	{"RefundsMakeHoursStale", refundsMakeHoursStale},
	{"TooManyClicksTakeBackThoseBefore", tooManyTakeBack},
	{"TooManyClicksTakeBackConversionsOfRefundedOnes", tooManyTakeBackConversions},
}

// selectionOf selects all recordings of a campaign in the hours around noon.
func selectionOf(c ads.Campaign) ads.Selection {
	return ads.Selection{Campaign: c.ID, From: noon.Add(-48 * time.Hour), To: noon.Add(48 * time.Hour)}
}

// click records an impression at noon, and a click on it with the given cost.
func (w *world) click(u ads.UnitID, zone ads.ZoneID, cost ads.Micros, change func(*ads.Recording)) ads.Recording {
	w.t.Helper()
	r := recording(ads.Impression, u, zone)
	r.At = noon
	change(&r)
	w.record(r)
	r.Kind, r.Cost = ads.Click, cost
	w.record(r)
	return r
}

func asBefore(*ads.Recording) {}

func (w *world) begin(s ads.Selection, most int) ads.Refund {
	w.t.Helper()
	r := ads.Refund{ID: ads.RefundID{ID: id.New()}, Selection: s, Most: most, By: "user_1", Reason: "robots", Begun: noon}
	w.ok(w.Begin(w.ctx, r), "Begin")
	return r
}

func (w *world) goOn(r ads.Refund, now time.Time) *ads.Refund {
	w.t.Helper()
	after, err := w.Continue(w.ctx, r.ID, now)
	w.ok(err, "Continue")
	return after
}

// refund refunds up to most recordings of a selection.
func (w *world) refund(s ads.Selection, most int) *ads.Refund {
	w.t.Helper()
	r := w.begin(s, most)
	for {
		if after := w.goOn(r, noon); after.Done {
			return after
		}
	}
}

func selectionsPick(w *world) {
	c, zone := w.campaign(), w.zone("top")
	u, other := w.place(c, cpc(100), zone), w.place(c, cpm(3_000), zone)
	elsewhere := w.place(w.campaign(), cpc(100), zone)
	person, address := newPerson(), newPerson()
	first := w.click(u, zone, 100, func(r *ads.Recording) { r.Profile, r.Address, r.At = person, address, noon.Add(-time.Hour) })
	second := w.click(u, zone, 200, func(r *ads.Recording) { r.Address = address })
	shown := recording(ads.Impression, other, zone)
	shown.At, shown.Cost, shown.Profile = noon.Add(time.Hour), 3, person
	w.record(shown)
	w.click(elsewhere, zone, 100, func(r *ads.Recording) { r.Profile, r.Address = person, address })
	w.click(u, zone, 0, asBefore)                                    // free
	w.click(u, zone, 100, func(r *ads.Recording) { r.Staff = true }) // invalid
	a := ads.Charge{Choice: first.Choice, Kind: ads.Click, Unit: u, Zone: zone, At: first.At, Amount: 100, Person: person}
	b := ads.Charge{Choice: second.Choice, Kind: ads.Click, Unit: u, Zone: zone, At: second.At, Amount: 200}
	i := ads.Charge{Choice: shown.Choice, Kind: ads.Impression, Unit: other, Zone: zone, At: shown.At, Amount: 3}
	for name, each := range map[string]struct {
		change func(*ads.Selection)
		want   []ads.Charge
	}{
		"all":               {func(*ads.Selection) {}, []ads.Charge{i, b, a}},
		"clicks":            {func(s *ads.Selection) { s.Kind = ads.Click }, []ads.Charge{b, a}},
		"impressions":       {func(s *ads.Selection) { s.Kind = ads.Impression }, []ads.Charge{i}},
		"a unit":            {func(s *ads.Selection) { s.Unit = other }, []ads.Charge{i}},
		"a choice":          {func(s *ads.Selection) { s.Choice = first.Choice }, []ads.Charge{a}},
		"a choice, too old": {func(s *ads.Selection) { s.Choice, s.From = first.Choice, noon }, nil},
		"another's choice":  {func(s *ads.Selection) { s.Choice, s.Unit = first.Choice, other }, nil},
		"a person":          {func(s *ads.Selection) { s.Person = person }, []ads.Charge{a}},
		"an address":        {func(s *ads.Selection) { s.Address = address }, []ads.Charge{b, a}},
		"both":              {func(s *ads.Selection) { s.Address, s.Person = address, person }, []ads.Charge{a}},
		"an hour":           {func(s *ads.Selection) { s.From, s.To = noon, noon.Add(time.Hour) }, []ads.Charge{b}},
		"unknown person":    {func(s *ads.Selection) { s.Person = newPerson() }, nil},
	} {
		s := selectionOf(c)
		each.change(&s)
		got, err := w.Charged(w.ctx, s)
		w.ok(err, "Charged")
		want := ads.Charges{Count: len(each.want), Newest: each.want}
		for _, charge := range each.want {
			want.Amount += charge.Amount
		}
		w.same(got, want, name)
	}
}

func refundsGiveBack(w *world) {
	c, zone := w.budgeted(ads.Budget{Total: 1_000, Daily: 600}), w.zone("top")
	u := w.place(c, cpc(200), zone)
	for range 3 {
		w.click(u, zone, 200, asBefore)
	}
	full := ads.Ledger{Taken: 600, Spent: 600, Day: "2026-11-22", DayTaken: 600, DaySpent: 600}
	w.same(w.ledger(c), full, "the ledger")
	w.same(w.lease(leaseOf(c, 1, noon)), (*ads.Lease)(nil), "a lease of a day that is used up")
	r := w.refund(selectionOf(c), 2)
	w.same([]any{r.Count, r.Amount, r.Done}, []any{2, ads.Micros(400), true}, "the refund")
	w.same(w.goOn(*r, noon), r, "a refund that is done")
	w.same(w.ledger(c), ads.Ledger{Taken: 200, Spent: 200, Day: "2026-11-22", DayTaken: 200, DaySpent: 200}, "the ledger")
	w.counts(u, 3, 1)
	w.same(w.lease(leaseOf(c, 400, noon)).Amount, ads.Micros(400), "what can be spent again")

	again := w.refund(selectionOf(c), 5)
	w.same([]any{again.Count, again.Amount}, []any{1, ads.Micros(200)}, "the rest")
	again = w.refund(selectionOf(c), 5)
	w.same([]any{again.Count, again.Amount, again.Done}, []any{0, ads.Micros(0), true}, "nothing")
	w.counts(u, 3, 0)
	_, err := w.Continue(w.ctx, ads.RefundID{ID: id.New()}, noon)
	w.fails(err, ads.ErrNotFound, "a refund that there is not")
}

// refundsOfAnotherDay: yesterday's lease pays for a click of today, and a day that is over gets
// nothing back.
func refundsOfAnotherDay(w *world) {
	c, zone := w.budgeted(ads.Budget{Total: 10_000, Daily: 1_000}), w.zone("top")
	u := w.place(c, cpc(200), zone)
	midnight := noon.Truncate(24 * time.Hour).Add(24 * time.Hour)
	lease := w.lease(leaseOf(c, 400, midnight.Add(-time.Minute)))
	late := w.click(u, zone, 200, func(r *ads.Recording) { r.At, r.Lease = midnight.Add(time.Minute), lease.ID })
	early := w.click(u, zone, 200, func(r *ads.Recording) { r.At, r.Lease = midnight.Add(2*time.Minute), ads.LeaseID{} })
	w.same(w.ledger(c), ads.Ledger{Taken: 600, Spent: 400, Day: "2026-11-23", DayTaken: 200, DaySpent: 200}, "the ledger")
	now := midnight.Add(time.Hour)
	for _, step := range []struct {
		choice ads.ChoiceID
		want   ads.Ledger
	}{
		{late.Choice, ads.Ledger{Taken: 400, Spent: 200, Day: "2026-11-23", DayTaken: 200, DaySpent: 200}},
		{early.Choice, ads.Ledger{Taken: 200, Spent: 0, Day: "2026-11-23", DayTaken: 0, DaySpent: 0}},
	} {
		s := selectionOf(c)
		s.Choice = step.choice
		w.same(w.goOn(w.begin(s, 1), now).Amount, ads.Micros(200), "what was refunded")
		w.same(w.ledger(c), step.want, "the ledger")
	}
	_, err := w.Settle(w.ctx, lease.SettleAt)
	w.ok(err, "Settle")
	w.same(w.ledger(c).Taken, ads.Micros(0), "what is still taken")
}

func refundsInPieces(w *world) {
	c, zone := w.campaign(), w.zone("top")
	u := w.place(c, cpm(1_000), zone)
	const all = ads.MaxRefunded + 5
	for n := range all {
		r := recording(ads.Impression, u, zone)
		r.At, r.Cost = noon.Add(time.Duration(n)*time.Second), 1
		w.record(r)
	}
	r := w.begin(selectionOf(c), all)
	open, err := w.Unfinished(w.ctx)
	w.ok(err, "Unfinished")
	w.same(open, []ads.RefundID{r.ID}, "refunds that are not done")
	first := w.goOn(r, noon)
	w.same([]any{first.Count, first.Amount, first.Done}, []any{ads.MaxRefunded, ads.Micros(ads.MaxRefunded), false}, "the first piece")
	rest, err := w.Charged(w.ctx, selectionOf(c))
	w.ok(err, "Charged")
	w.same([]any{rest.Count, len(rest.Newest)}, []any{5, 5}, "what is left")
	if !slices.IsSortedFunc(rest.Newest, func(a, b ads.Charge) int { return b.At.Compare(a.At) }) {
		w.t.Error("charges are not in order, the newest first")
	}
	last := w.goOn(r, noon)
	w.same([]any{last.Count, last.Done}, []any{all, true}, "the last piece")
	open, err = w.Unfinished(w.ctx)
	w.ok(err, "Unfinished")
	w.same(len(open), 0, "refunds that are not done")
	w.same(w.ledger(c).Spent, ads.Micros(0), "what was spent")
	w.counts(u, 0, 0)
}

func manyRefund(w *world) {
	c, zone := w.budgeted(ads.Budget{Total: 100_000}), w.zone("top")
	u := w.place(c, cpc(100), zone)
	for range 12 {
		w.click(u, zone, 100, asBefore)
	}
	one := w.begin(selectionOf(c), 6)
	var refunded atomic.Int64
	together(func(i int) {
		r := one
		if i%4 == 0 {
			r = ads.Refund{ID: ads.RefundID{ID: id.New()}, Selection: selectionOf(c), Most: 1, By: "user_1", Reason: "robots", Begun: noon}
			if err := w.Begin(w.ctx, r); err != nil {
				w.t.Errorf("Begin: %v", err)
			}
		}
		after, err := w.Continue(w.ctx, r.ID, noon)
		if err != nil {
			w.t.Errorf("Continue: %v", err)
			return
		}
		if i%4 == 0 {
			refunded.Add(int64(after.Amount))
		}
	})
	refunded.Add(int64(w.goOn(one, noon).Amount))
	w.same(refunded.Load(), int64(1_200), "what all have refunded")
	w.same(w.ledger(c), ads.Ledger{Day: "2026-11-22"}, "the ledger")
	w.counts(u, 12, 0)
}

func refundsMakeHoursStale(w *world) {
	t := w.reported()
	hour := noon.Truncate(time.Hour)
	w.ok(w.RollUp(w.ctx, hour, hour.Add(4*time.Hour), hour.Add(4*time.Hour)), "RollUp")
	r := ads.ReportRequest{From: hour, To: hour.Add(2 * time.Hour), By: ads.PerCampaign}
	w.refund(selectionOf(t.b), 1)
	one := selectionOf(t.a)
	w.refund(one, 1)
	until, stale, err := w.RolledUp(w.ctx)
	w.ok(err, "RolledUp")
	w.same(until, hour.Add(4*time.Hour), "until when it is rolled up")
	slices.SortFunc(stale, time.Time.Compare)
	w.same(stale, []time.Time{hour, hour.Add(time.Hour)}, "stale hours")
	for _, again := range stale {
		w.ok(w.RollUp(w.ctx, again, again.Add(time.Hour), hour), "RollUp")
		_, left, err := w.RolledUp(w.ctx)
		w.ok(err, "RolledUp")
		w.same(slices.Contains(left, again), false, "a rebuilt hour is stale")
	}
	w.report(r,
		ads.ReportRow{Key: t.a.ID.String(), Currency: "EUR", Impressions: 2, Invalid: 1, Spend: 2_000, Refunded: 1_000},
		ads.ReportRow{Key: t.b.ID.String(), Currency: "EUR", Impressions: 1, Invalid: 1, Refunded: 500_000},
	)
	oldest, err := w.Oldest(w.ctx)
	w.ok(err, "Oldest")
	w.same(oldest, noon, "the oldest recording")
}

func refundsAreListed(w *world) {
	c := w.campaign()
	s := ads.Selection{
		Campaign: c.ID, Unit: ads.UnitID{ID: id.New()}, Choice: ads.ChoiceID{ID: id.New()}, Kind: ads.Click, From: noon.Add(-time.Hour), To: noon,
		Person: newPerson(), Address: newPerson(),
	}
	first, second := w.begin(s, 7), w.begin(selectionOf(c), 1)
	w.begin(selectionOf(w.campaign()), 1)
	w.goOn(second, noon)
	second.Done = true
	listed, err := w.ListRefunds(w.ctx, c.ID, ads.Page{Limit: 5})
	w.ok(err, "ListRefunds")
	w.same(listed, []*ads.Refund{&first, &second}, "the refunds")
	listed, err = w.ListRefunds(w.ctx, c.ID, ads.Page{Limit: 1, Last: true})
	w.ok(err, "ListRefunds")
	w.same(listed, []*ads.Refund{&second}, "the last refund")
}

// tooManyTakeBackConversions: a click was refunded by hand, and its conversion was not.
func tooManyTakeBackConversions(w *world) {
	c, zone := w.budgeted(ads.Budget{Total: 100_000}), w.zone("top")
	u, person := w.place(c, cpm(1_000), zone), newPerson()
	for n := range ads.MaxPersonClicks + 1 {
		v := newVisit(u, zone)
		v.clicked.Profile, v.clicked.At = person, noon.Add(time.Duration(n)*time.Second)
		v.converted.At, v.converted.Cost = v.clicked.At, 300
		w.record(v.shown)
		w.record(v.clicked)
		if n == 0 {
			w.record(v.converted)
			s := selectionOf(c)
			s.Choice, s.Kind = v.clicked.Choice, ads.Click
			w.refund(s, 1)
			w.converts(u, 1)
			w.same(w.ledger(c).Spent, ads.Micros(300), "what was spent after the refund of the click")
		}
	}
	w.converts(u, 0)
	w.same(w.ledger(c).Spent, ads.Micros(0), "what was spent after too many clicks")
}

func tooManyTakeBack(w *world) {
	c, other, zone := w.budgeted(ads.Budget{Total: 100_000}), w.budgeted(ads.Budget{Total: 100_000}), w.zone("top")
	u, theirs := w.place(c, cpc(100), zone), w.place(other, cpc(7), zone)
	person, now := newPerson(), noon
	at := func(r *ads.Recording) {
		now = now.Add(time.Minute / 2)
		r.Profile, r.At = person, now
	}
	w.click(u, zone, 100, func(r *ads.Recording) { r.Profile, r.At = person, noon.Add(-time.Hour) })
	w.click(theirs, zone, 7, at)
	for range ads.MaxPersonClicks - 1 {
		w.click(u, zone, 100, at)
	}
	w.same(w.ledger(c).Spent, ads.Micros(1_000), "what was spent before")
	w.click(u, zone, 100, at)
	w.same(w.ledger(c).Spent, ads.Micros(100), "what was spent: the click of an hour before")
	w.same(w.ledger(other).Spent, ads.Micros(0), "what the other has spent")
	w.click(u, zone, 100, at)
	w.same(w.ledger(c).Spent, ads.Micros(100), "what was spent after one more")
	w.counts(u, ads.MaxPersonClicks+2, 1)
	w.counts(theirs, 1, 0)
	hour := noon.Truncate(time.Hour)
	w.ok(w.RollUp(w.ctx, hour, hour.Add(time.Hour), hour), "RollUp")
	w.report(ads.ReportRequest{From: hour, To: hour.Add(time.Hour), By: ads.PerCampaign},
		ads.ReportRow{Key: c.ID.String(), Currency: "EUR", Impressions: ads.MaxPersonClicks + 1, Invalid: ads.MaxPersonClicks + 1, Refunded: 900},
		ads.ReportRow{Key: other.ID.String(), Currency: "EUR", Impressions: 1, Invalid: 1, Refunded: 7},
	)
}
