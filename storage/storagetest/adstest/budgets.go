package adstest

import (
	"sync"
	"sync/atomic"
	"time"

	"plaza/ads"
	"plaza/id"
)

var budgetCases = []testCase{
	{"LeasesNeverExceedTheBudget", leasesNeverExceed},
	{"LeasesNeverExceedADay", leasesNeverExceedADay},
	{"SpendingComesOutOfTheLease", spendingComesOutOfTheLease},
	{"SettlingGivesBackWhatWasNotSpent", settlingGivesBack},
	{"ConcurrentSettlersSettleOnce", manySettle},
	{"ClicksBeyondTheBudgetAreNotBilled", clicksBeyondTheBudget},
	{"AbsentCampaignsHaveNoBudget", absentCampaignsHaveNoBudget},
	{"InvalidRecordingsCostNothing", invalidRecordings},
}

// budgeted stores a campaign with a budget.
func (w *world) budgeted(b ads.Budget) ads.Campaign {
	w.t.Helper()
	c := ads.Campaign{ID: ads.CampaignID{ID: id.New()}, Advertiser: w.advertiser().ID, Name: "Spring", State: ads.Active, Budget: b}
	c.Budget.Currency = "EUR"
	w.add(ads.Batch{Campaigns: []ads.Campaign{c}})
	return c
}

func leaseOf(c ads.Campaign, price ads.Micros, now time.Time) ads.LeaseRequest {
	return ads.LeaseRequest{ID: ads.LeaseID{ID: id.New()}, Campaign: c.ID, Price: price, Count: 1, Now: now}
}

func (w *world) lease(r ads.LeaseRequest) *ads.Lease {
	w.t.Helper()
	lease, err := w.Lease(w.ctx, r)
	w.ok(err, "Lease")
	return lease
}

func (w *world) ledger(c ads.Campaign) ads.Ledger {
	w.t.Helper()
	found, err := w.Ledgers(w.ctx, []ads.CampaignID{c.ID})
	w.ok(err, "Ledgers")
	return found[c.ID]
}

func leasesNeverExceed(w *world) {
	c := w.budgeted(ads.Budget{Total: 100_000})
	var taken atomic.Int64
	together(func(int) {
		for range 8 {
			lease, err := w.Lease(w.ctx, leaseOf(c, 400, noon))
			if err != nil {
				w.t.Errorf("Lease: %v", err)
			}
			if lease != nil {
				taken.Add(int64(lease.Amount))
			}
		}
	})
	w.same(taken.Load(), int64(100_000), "what all have taken")
	w.same(w.ledger(c).Taken, ads.Micros(100_000), "what was taken")
	w.same(w.lease(leaseOf(c, 1, noon)), (*ads.Lease)(nil), "a lease of nothing")
}

func leasesNeverExceedADay(w *world) {
	c := w.budgeted(ads.Budget{Total: 2_500, Daily: 1_000})
	for day, want := range []ads.Micros{1_000, 1_000, 500, 0} {
		now, taken := noon.AddDate(0, 0, day), ads.Micros(0)
		for {
			lease := w.lease(leaseOf(c, 100, now))
			if lease == nil {
				break
			}
			taken += lease.Amount
		}
		w.same(taken, want, "what was taken in a day")
	}
}

func spendingComesOutOfTheLease(w *world) {
	c, zone := w.budgeted(ads.Budget{Total: 10_000}), w.zone("top")
	u := w.place(c, cpm(2_000_000), zone)
	lease := w.lease(leaseOf(c, 6_000, noon))
	for i, want := range []ads.Micros{2_000, 2_000, 2_000, 2_000, 2_000, 0} {
		r := recording(ads.Impression, u, zone)
		r.At, r.Cost, r.Lease = noon, 2_000, lease.ID
		w.same(w.record(r).Billed, want, "what was billed")
		w.same(w.take(r), false, "whether a repetition was recorded")
		w.same(len(w.count(noon, r)), 0, "what was counted twice")
		spent := min(ads.Micros(i+1)*2_000, 10_000)
		w.same(w.ledger(c), ads.Ledger{
			Taken: max(6_000, spent), Spent: spent, Day: "2026-11-22", DayTaken: max(6_000, spent), DaySpent: spent,
		}, "the ledger")
	}
	w.counts(u, 6, 0)
}

func settlingGivesBack(w *world) {
	c, zone := w.budgeted(ads.Budget{Total: 10_000}), w.zone("top")
	u := w.place(c, cpm(1_000_000), zone)
	lease := w.lease(leaseOf(c, 10_000, noon))
	r := recording(ads.Impression, u, zone)
	r.At, r.Cost, r.Lease = noon, 1_000, lease.ID
	w.record(r)
	n, err := w.Settle(w.ctx, lease.SettleAt.Add(-time.Millisecond))
	w.ok(err, "Settle")
	w.same(n, 0, "leases that were settled too early")
	n, err = w.Settle(w.ctx, lease.SettleAt)
	w.ok(err, "Settle")
	w.same(n, 1, "leases that were settled")
	w.same(w.ledger(c), ads.Ledger{Taken: 1_000, Spent: 1_000, Day: "2026-11-22", DayTaken: 1_000, DaySpent: 1_000}, "the ledger")
	w.same(w.lease(leaseOf(c, 9_000, noon)).Amount, ads.Micros(9_000), "what can be taken again")
}

func manySettle(w *world) {
	campaigns := []ads.Campaign{w.budgeted(ads.Budget{Total: 10_000}), w.budgeted(ads.Budget{Daily: 10_000})}
	var all sync.Map
	for i := range 20 {
		w.lease(leaseOf(campaigns[i%2], 500, noon))
	}
	together(func(i int) {
		n, err := w.Settle(w.ctx, noon.Add(time.Hour))
		if err != nil {
			w.t.Errorf("Settle: %v", err)
		}
		all.Store(i, n)
	})
	settled := 0
	all.Range(func(_, n any) bool {
		settled += n.(int) //nolint:errcheck,forcetypeassert // it was stored above
		return true
	})
	w.same(settled, 20, "what all have settled")
	for _, c := range campaigns {
		w.same(w.ledger(c).Taken, ads.Micros(0), "what is still taken")
	}
}

func clicksBeyondTheBudget(w *world) {
	c, zone := w.budgeted(ads.Budget{Daily: 500}), w.zone("top")
	u := w.place(c, cpc(200), zone)
	for _, want := range []ads.Micros{200, 200, 0} {
		r := recording(ads.Impression, u, zone)
		r.At = noon
		w.record(r)
		r.Kind, r.Cost = ads.Click, 200
		w.same(w.record(r).Billed, want, "what was billed")
	}
	w.same(w.ledger(c).Spent, ads.Micros(400), "what was spent")
	w.counts(u, 3, 3)
}

func absentCampaignsHaveNoBudget(w *world) {
	absent := ads.Campaign{ID: ads.CampaignID{ID: id.New()}}
	w.same(w.lease(leaseOf(absent, 1, noon)), (*ads.Lease)(nil), "a lease of an absent campaign")
	w.same(w.ledger(absent), ads.Ledger{}, "the ledger of an absent campaign")
}

func invalidRecordings(w *world) {
	c, zone := w.budgeted(ads.Budget{Total: 100_000}), w.zone("top")
	u := w.place(c, cpc(100), zone)
	click := func(shown bool, change func(*ads.Recording)) ads.Invalid {
		w.t.Helper()
		r := recording(ads.Impression, u, zone)
		change(&r)
		if shown {
			w.record(r)
		}
		r.Kind, r.Cost = ads.Click, 100
		receipt := w.record(r)
		w.same(receipt.Billed > 0, receipt.Invalid == "", "whether it was billed")
		return receipt.Invalid
	}
	w.same(click(false, func(*ads.Recording) {}), ads.NoImpression, "a click on what was not shown")
	w.same(click(true, func(r *ads.Recording) { r.Staff = true }), ads.ByStaff, "a click by staff")
	person, address := ads.ProfileID{ID: id.New()}, ads.ProfileID{ID: id.New()}
	at := noon
	for n := range ads.MaxPersonClicks + 1 {
		want := ads.Invalid("")
		if n == ads.MaxPersonClicks {
			want = ads.TooMany
		}
		w.same(click(true, func(r *ads.Recording) { r.Profile, r.At = person, at }), want, "one of many clicks of a person")
	}
	for n := range ads.MaxAddressClicks + 1 {
		want := ads.Invalid("")
		if n == ads.MaxAddressClicks {
			want = ads.TooMany
		}
		w.same(click(true, func(r *ads.Recording) { r.Address, r.At = address, at }), want, "one of many clicks from an address")
	}
	at = at.Add(ads.ClickWindow)
	w.same(click(true, func(r *ads.Recording) { r.Profile, r.Address, r.At = person, address, at }), ads.Invalid(""), "a click later on")
	// The person's earlier clicks were refunded: see Evidence.Burst.
	w.same(w.ledger(c).Spent, ads.Micros(100*(ads.MaxAddressClicks+1)), "what was spent")
}
