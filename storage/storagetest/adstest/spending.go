package adstest

import (
	"fmt"
	"slices"
	"time"

	"pgregory.net/rapid"

	"plaza/ads"
	"plaza/ads/adserver"
	"plaza/id"
)

var spendingCases = []testCase{
	{"AwkwardBudgetsAreServedInFull", awkwardBudgets},
	{"AnyBudgetIsServedInFull", anyBudget},
	{"ClicksUseABudgetToTheLast", clicksToTheLast},
	{"UnitsThatCannotPayAClickDoNotWin", noFreeClicks},
}

// market is a zone with units of one campaign, and servers that choose among them; the test sets
// their clock.
type market struct {
	*world
	fatal    func(format string, args ...any)
	now      time.Time
	servers  []*adserver.Service
	prices   []ads.Micros // of impressions
	campaign ads.Campaign
	request  adserver.Request
	shown    ads.Micros   // the cost of the recorded impressions
	pending  []impression // impressions that were chosen but not recorded
	killed   int
}

type impression struct {
	token   string
	cost    ads.Micros
	expires time.Time
	settled time.Time // when its lease is settled, at the latest
}

// midnight is when markets open; they stay open for a day.
var midnight = time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)

const openTime = 24 * time.Hour

// market stores the units to choose from, and starts the servers.
func (w *world) market(servers int, b ads.Budget, bids ...ads.Bid) *market {
	w.t.Helper()
	m := &market{world: w, fatal: w.t.Fatalf, now: midnight, servers: make([]*adserver.Service, servers)}
	zone := w.zone(fmt.Sprintf("market-%x", id.New().Bytes()))
	b.Currency = "EUR"
	m.campaign = ads.Campaign{
		ID: ads.CampaignID{ID: id.New()}, Advertiser: w.advertiser().ID, Name: "Spring", State: ads.Active, Budget: b,
		Schedule: ads.Schedule{Start: midnight, End: midnight.Add(openTime)},
	}
	w.add(ads.Batch{Campaigns: []ads.Campaign{m.campaign}})
	for _, bid := range bids {
		w.place(m.campaign, bid, zone)
		m.prices = append(m.prices, bid.Cost(ads.Impression))
	}
	m.request = adserver.Request{Site: zone.Site, Zone: zone.Name, Count: 1}
	for i := range m.servers {
		m.start(i)
	}
	return m
}

// start starts a server. The previous one is abandoned, as after kill -9.
func (m *market) start(i int) {
	m.servers[i] = adserver.New(m.Store, adserver.Options{Now: func() time.Time { return m.now }, Go: func(do func()) { do() }})
}

// pass advances the clock, and the servers do their periodic work.
func (m *market) pass(d time.Duration) {
	m.now = m.now.Add(d)
	for _, s := range m.servers {
		if err := s.Settle(m.ctx); err != nil {
			m.fatal("Settle: %v", err)
		}
	}
	m.pending = slices.DeleteFunc(m.pending, func(i impression) bool { return !m.now.Before(i.settled) })
}

// ask asks a server for an ad, and returns how many it got. Explain must have predicted it.
func (m *market) ask(server int) int {
	explained, err := m.servers[server].Explain(m.ctx, m.request)
	if err != nil {
		m.fatal("Explain: %v", err)
	}
	choices, err := m.servers[server].Choose(m.ctx, m.request)
	if err != nil {
		m.fatal("Choose: %v", err)
	}
	var won, chosen []ads.UnitID
	for _, e := range explained {
		if e.Verdict == adserver.Won {
			won = append(won, e.Unit)
		}
	}
	for _, c := range choices {
		chosen = append(chosen, c.Unit)
		unit := m.getUnit(c.Unit)
		m.pending = append(m.pending, impression{
			c.ImpressionToken, unit.Bid.Cost(ads.Impression), m.now.Add(ads.ImpressionLife), m.now.Add(ads.LeaseLife + ads.SettleAfter),
		})
	}
	if slices.SortFunc(won, byUnit); !slices.Equal(won, slices.SortedFunc(slices.Values(chosen), byUnit)) {
		m.fatal("explain named %v, and %v were chosen", won, chosen)
	}
	return len(choices)
}

func byUnit(a, b ads.UnitID) int { return a.Compare(b.ID) }

// show records a pending impression.
func (m *market) show(i int) {
	p := m.pending[i]
	if !m.now.Before(p.expires) {
		return
	}
	if _, err := m.servers[0].RecordImpression(m.ctx, p.token); err != nil {
		m.fatal("RecordImpression: %v", err)
	}
	m.shown += p.cost
	m.pending = slices.Delete(m.pending, i, i+1)
}

// chosen returns the cost of the impressions that were recorded or still may be. most includes
// those whose leases may not be settled yet.
func (m *market) chosen() (least, most ads.Micros) {
	least, most = m.shown, m.shown
	for _, p := range m.pending {
		if most += p.cost; m.now.Before(p.expires) {
			least += p.cost
		}
	}
	return least, most
}

// awkwardBudgets are budgets that are not multiples of a lease.
func awkwardBudgets(w *world) {
	for _, c := range []struct {
		name   string
		budget ads.Budget
		cpm    ads.Micros
		every  time.Duration
		want   int
	}{
		{"300 at 1.00", ads.Budget{Total: 300_000}, 1_000_000, 10 * time.Millisecond, 300},
		{"0.20 a day at 3.00", ads.Budget{Daily: 200_000}, 3_000_000, 10 * time.Millisecond, 66},
		{"an even 33", ads.Budget{Daily: 33_000, Even: true}, 1_000_000, openTime / 66, 33},
	} {
		m, served := w.market(1, c.budget, cpm(c.cpm)), 0
		for asked := 0; served < c.want && asked < 2*c.want; asked++ {
			choices, err := m.servers[0].Choose(w.ctx, m.request)
			w.ok(err, "Choose")
			served += len(choices)
			m.now = m.now.Add(c.every)
			if !c.budget.Even && len(choices) == 0 {
				w.t.Fatalf("%s: no ad after %d", c.name, served)
			}
		}
		w.same(served, c.want, c.name)
		w.same(m.ask(0), 0, c.name+": ads without a budget")
	}
}

// anyBudget plays random histories of servers that choose, show, wait, and are killed.
func anyBudget(w *world) {
	w.play(func(t *rapid.T) {
		prices := rapid.SliceOfNDistinct(rapid.Int64Range(1, 50), 1, 3, rapid.ID).Draw(t, "prices")
		budget := ads.Micros(rapid.Int64Range(1, 30*slices.Max(prices)).Draw(t, "budget"))
		b, even := ads.Budget{Total: budget}, rapid.Bool().Draw(t, "even")
		if b.Even = even; rapid.Bool().Draw(t, "daily") {
			b = ads.Budget{Daily: budget, Even: even}
		}
		var bids []ads.Bid
		for _, price := range prices {
			bids = append(bids, cpm(ads.Micros(price*1_000)))
		}
		m := w.market(rapid.IntRange(1, 3).Draw(t, "servers"), b, bids...)
		m.fatal = t.Fatalf
		m.request.Count = rapid.IntRange(1, 2).Draw(t, "count")
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			m.step(t)
			m.check(budget)
		}
		m.finish(budget)
	})
}

// step performs one random event.
func (m *market) step(t *rapid.T) {
	server := rapid.IntRange(0, len(m.servers)-1).Draw(t, "server")
	switch rapid.SampledFrom([]string{"ask", "ask", "show", "wait", "kill"}).Draw(t, "step") {
	case "ask":
		for range rapid.IntRange(1, 10).Draw(t, "times") {
			if m.ask(server) == 0 {
				m.refused(server)
			}
		}
	case "show":
		if len(m.pending) > 0 {
			m.show(rapid.IntRange(0, len(m.pending)-1).Draw(t, "impression"))
		}
	case "wait":
		m.pass(time.Duration(rapid.IntRange(1, 3_600_000).Draw(t, "milliseconds")) * time.Millisecond)
	case "kill":
		m.start(server)
		m.killed++
	}
}

// refused checks a request that got nothing: a second later, when the server asks the database
// again, it must get an ad, unless less than one price is free.
func (m *market) refused(server int) {
	m.pass(time.Second)
	if before := m.free(); m.ask(server) == 0 && before >= m.cheapest() {
		m.fatal("%d were free, and nothing was chosen", before)
	}
}

func (m *market) cheapest() ads.Micros { return slices.Min(m.prices) }

func (m *market) dearest() ads.Micros { return slices.Max(m.prices) }

// free computes how much can be taken: all of a budget, or, at an even pace, the share of the day
// that is over plus one price.
func (m *market) free() ads.Micros {
	l, b := m.ledger(m.campaign), m.campaign.Budget
	all := b.Total + b.Daily // one of them is 0
	if b.Even {
		share := float64(m.now.Sub(midnight)) / float64(openTime)
		all = min(all, ads.Micros(float64(all)*share)+m.cheapest())
	}
	return all - l.Taken
}

// check compares the ledger with what was chosen.
func (m *market) check(budget ads.Micros) {
	l := m.ledger(m.campaign)
	if least, _ := m.chosen(); l.Spent != m.shown || l.Taken < least || l.Taken > budget {
		m.fatal("%+v, and %d were shown, %d chosen of %d", l, m.shown, least, budget)
	}
}

// finish waits until all leases have ended: by then only one lease for each kill is still
// unavailable. Then it waits until these are settled too, and serves the rest of the budget.
func (m *market) finish(budget ads.Micros) {
	m.pass(ads.LeaseLife)
	l, leases := m.ledger(m.campaign), ads.Micros(m.killed)*max(m.dearest(), budget/200)
	if _, most := m.chosen(); l.Taken > most+leases {
		m.fatal("%+v: %d were chosen, and %d are out of reach after %d kills", l, most, l.Taken-most, m.killed)
	}
	m.pass(midnight.Add(openTime - time.Millisecond).Sub(m.now))
	if l := m.ledger(m.campaign); l.Taken != m.shown {
		m.fatal("%+v: %d were shown, and nothing else is wanted", l, m.shown)
	}
	for m.ask(0) > 0 {
		m.check(budget)
	}
	if least, _ := m.chosen(); budget-least >= m.cheapest() {
		m.fatal("%d of %d were never served", budget-least, budget)
	}
}

// clicksToTheLast chooses 60 ads with a budget for 20 clicks, before all of them are clicked.
func clicksToTheLast(w *world) {
	m := w.market(2, ads.Budget{Total: 4_000_000}, cpc(200_000))
	var choices []adserver.Choice
	for i := range 60 {
		chosen, err := m.servers[i%2].Choose(w.ctx, m.request)
		w.ok(err, "Choose")
		choices = append(choices, chosen...)
	}
	w.same(len(choices), 60, "the ads that were chosen")
	for i, c := range choices {
		m.click(i, c)
	}
	w.same(m.ledger(m.campaign).Spent, ads.Micros(4_000_000), "what was spent")
	w.same(m.ask(0), 0, "ads of a budget that is used up")
}

// noFreeClicks has an ad with a budget for one and a half clicks compete with a cheaper ad that can
// pay.
func noFreeClicks(w *world) {
	m := w.market(2, ads.Budget{Total: 300_000}, cpc(200_000))
	rival := w.place(w.campaign(), cpm(1_000_000), ads.ZoneID{Site: m.request.Site, Name: m.request.Zone})
	for i := range m.servers {
		choices, err := m.servers[i].Choose(w.ctx, m.request)
		w.ok(err, "Choose")
		w.same(choices[0].Unit != rival, true, "before the click: the dearer ad won")
		if i == 1 {
			m.click(i, choices[0])
		}
	}
	for i := range m.servers {
		if i == 0 { // has not seen the click
			m.pass(ads.LeaseLife)
		}
		choices, err := m.servers[i].Choose(w.ctx, m.request)
		w.ok(err, "Choose")
		w.same(choices[0].Unit == rival, true, "after the click: the ad won that pays")
		w.same(m.ask(i), 1, "the ads that explain agrees with")
	}
	w.same(m.ledger(m.campaign).Spent, ads.Micros(200_000), "what was spent")
}

// click shows and clicks an ad, from a separate address.
func (m *market) click(i int, c adserver.Choice) {
	s := m.servers[i%len(m.servers)]
	_, err := s.RecordImpression(m.ctx, c.ImpressionToken)
	m.ok(err, "RecordImpression")
	_, err = s.RecordClick(m.ctx, c.ClickToken, fmt.Sprintf("10.0.0.%d", i))
	m.ok(err, "RecordClick")
}
