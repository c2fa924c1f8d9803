package adserver_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"plaza/ads"
	"plaza/ads/adserver"
	"plaza/ads/adsmodel"
)

// budget changes the budget of a campaign, on one server.
func (s *stage) budget(on *adserver.Service, c ads.Campaign, b ads.Budget) {
	s.t.Helper()
	b.Currency = "EUR"
	if err := on.UpdateCampaign(s.ctx, c.ID, func(c *ads.Campaign) error { c.Budget = b; return nil }); err != nil {
		s.t.Fatal(err)
	}
}

// visit asks for one ad as a visitor, and returns how many there are.
func (s *stage) visit(on *adserver.Service, visitor string) int {
	s.t.Helper()
	r := s.request(1)
	r.Visitor = visitor
	choices, err := on.Choose(s.ctx, r)
	if err != nil {
		s.t.Fatal(err)
	}
	return len(choices)
}

// visits asks for ads as new visitors, and returns how many there are.
func (s *stage) visits(on *adserver.Service, visitors int) (served int) {
	s.t.Helper()
	for range visitors {
		s.visitors++
		served += s.visit(on, fmt.Sprint("new-", s.visitors))
	}
	return served
}

func limited(b ads.Budget) func(*ads.Campaign) {
	b.Currency = "EUR"
	return func(c *ads.Campaign) { c.Budget = b }
}

func perClick(u *ads.Unit)  { u.Bid.Model = ads.CPC }
func perAction(u *ads.Unit) { u.Bid.Model = ads.CPA }

func oncePerDay(u *ads.Unit) { u.Caps = []ads.Cap{{Count: 1, Per: ads.Day}} }

// TestLoweredBudgetStopsSpending lowers a large budget while two servers hold leases of it: to what
// is chosen already and two ads more. The server that made the change chooses two ads, and the
// other one, a second later, none.
func TestLoweredBudgetStopsSpending(t *testing.T) {
	for name, budget := range map[string]func(ads.Micros) ads.Budget{
		"total": func(sum ads.Micros) ads.Budget { return ads.Budget{Total: sum} },
		"daily": func(sum ads.Micros) ads.Budget { return ads.Budget{Daily: sum} },
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, ads.ByFrequency)
			c := s.campaign(limited(budget(1_000_000_000)))
			s.unit(c, 1_000_000, asIs)
			other := s.server(s.store)
			if served := s.visits(s.Service, 5) + s.visits(other, 5); served != 10 {
				t.Fatalf("%d of 10 were served from the large budget", served)
			}
			s.budget(s.Service, c, budget(12_000))
			s.now = s.now.Add(time.Second)
			if served := s.visits(other, 5); served != 0 {
				t.Errorf("after a second the other server chose %d ads more, want 0: the first one has the rest on lease", served)
			}
			if served := s.visits(s.Service, 5); served != 2 {
				t.Errorf("the server that lowered the budget chose %d ads more, want 2", served)
			}
		})
	}
}

// TestLoweredBudgetStopsSpendingAtOnce has one server, which chooses nothing more after the answer.
func TestLoweredBudgetStopsSpendingAtOnce(t *testing.T) {
	for name, change := range map[string]func(*ads.Unit){"CPM": asIs, "CPC": perClick, "CPA": perAction} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, ads.ByFrequency)
			c := s.campaign(limited(ads.Budget{Total: 1_000_000_000_000}))
			s.unit(c, 1_000_000, change)
			if served := s.visits(s.Service, 3); served != 3 {
				t.Fatalf("%d of 3 were served", served)
			}
			s.budget(s.Service, c, ads.Budget{Total: 3_000})
			if served := s.visits(s.Service, 10); served != 0 {
				t.Errorf("%d ads were chosen that the budget can't pay for", served)
			}
		})
	}
}

func TestRaisedBudgetIsSpentAtOnce(t *testing.T) {
	s := newStage(t, ads.ByFrequency)
	c := s.campaign(limited(ads.Budget{Total: 3_000}))
	s.unit(c, 1_000_000, asIs)
	if served := s.visits(s.Service, 5); served != 3 {
		t.Fatalf("%d of 5 were served, want 3", served)
	}
	s.budget(s.Service, c, ads.Budget{Total: 5_000})
	if served := s.visits(s.Service, 5); served != 2 {
		t.Errorf("%d were served from the raised budget, want 2", served)
	}
}

func TestRefundedMoneyIsSpentAtOnce(t *testing.T) {
	s := newStage(t, ads.ByFrequency)
	c := s.campaign(limited(ads.Budget{Total: 3_000}))
	s.unit(c, 1_000_000, asIs)
	for range 4 {
		s.showOne()
	}
	if _, err := s.Refund(s.ctx, adserver.RefundRequest{ChargeQuery: adserver.ChargeQuery{Campaign: c.ID}, Count: 3, Reason: "robots"}); err != nil {
		t.Fatal(err)
	}
	if served := s.visits(s.Service, 5); served != 3 {
		t.Errorf("%d were served from what was refunded, want 3", served)
	}
}

// TestCapsDoNotReduceDelivery lets units with caps, most of which lose each choice, compete for one
// budget. All of it is spent, as it is without caps.
func TestCapsDoNotReduceDelivery(t *testing.T) {
	for name, each := range map[string]struct {
		budget ads.Micros
		price  func(*ads.Unit)
		want   int
	}{
		"CPM": {50_000, asIs, 50},
		"CPC": {3_000_000, perClick, 300},    // one in 100 is expected to be clicked
		"CPA": {1_000_000, perAction, 5_000}, // one in 5,000 is expected to convert
	} {
		for _, units := range []int{1, 3, 10} {
			t.Run(fmt.Sprint(name, " ", units), func(t *testing.T) {
				s := newStage(t, ads.ByFrequency)
				c := s.campaign(limited(ads.Budget{Total: each.budget}))
				for range units {
					s.unit(c, 1_000_000, func(u *ads.Unit) { each.price(u); oncePerDay(u) })
				}
				if served := s.visits(s.Service, each.want+20); served != each.want {
					t.Errorf("%d ads were chosen, want %d", served, each.want)
				}
			})
		}
	}
}

// TestVisitorsAtTheirCapsTakeNothingFromOthers has a budget for 30 ads, and before each visitor one
// who has seen the ad.
func TestVisitorsAtTheirCapsTakeNothingFromOthers(t *testing.T) {
	for name, each := range map[string]struct {
		budget ads.Micros
		price  func(*ads.Unit)
	}{"CPM": {30_000, asIs}, "CPC": {1_000_000, perClick}} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, ads.ByFrequency)
			s.unit(s.campaign(limited(ads.Budget{Total: each.budget})), 1_000_000, func(u *ads.Unit) { each.price(u); oncePerDay(u) })
			for n := range 30 {
				if n > 0 && s.visit(s.Service, "new-1") != 0 {
					t.Fatal("a visitor got an ad again")
				}
				if s.visits(s.Service, 1) != 1 {
					t.Fatalf("visitor %d got no ad", n+1)
				}
			}
		})
	}
}

// slow is a store on which something can happen before caps are reserved. It counts leases.
type slow struct {
	*adsmodel.Store
	before func()
	leases int
}

func (s *slow) Reserve(ctx context.Context, r ads.Reservation) ([]int, error) {
	if do := s.before; do != nil {
		s.before = nil
		do()
	}
	return s.Store.Reserve(ctx, r)
}

func (s *slow) Lease(ctx context.Context, r ads.LeaseRequest) (*ads.Lease, error) {
	s.leases++
	return s.Store.Lease(ctx, r)
}

// TestMoneyComesBackFromAnExchangedLease lets a choice exchange the lease of another one, which
// then chooses nothing. Both prices are available to the next choices at the same moment.
func TestMoneyComesBackFromAnExchangedLease(t *testing.T) {
	s := newStage(t, ads.ByFrequency)
	s.unit(s.campaign(limited(ads.Budget{Total: 3_000})), 1_000_000, oncePerDay)
	store := &slow{Store: s.store.Store}
	server := s.server(store)
	if s.visits(server, 1) != 1 {
		t.Fatal("the first visitor got no ad")
	}
	store.before = func() { // both hold money now
		store.before = func() {
			if s.visits(server, 1) != 0 {
				t.Error("a visitor got an ad, but others hold all money")
			}
		}
		if s.visit(server, "new-1") != 0 {
			t.Error("a visitor got an ad again")
		}
	}
	if s.visit(server, "new-1") != 0 {
		t.Error("a visitor got an ad again")
	}
	leases := store.leases
	if served := s.visits(server, 3); served != 2 {
		t.Errorf("%d of 3 were served, want 2", served)
	}
	if used := store.leases - leases; used > 1 {
		t.Errorf("that took %d requests for money, want one at most: for the third", used)
	}
}

// TestCappedUnitsShareOneAmount counts requests for money when ten units with caps share a budget
// that is leased price by price.
func TestCappedUnitsShareOneAmount(t *testing.T) {
	s := newStage(t, ads.ByFrequency)
	c := s.campaign(limited(ads.Budget{Total: 100_000}))
	for range 10 {
		s.unit(c, 1_000_000, oncePerDay)
	}
	store := &slow{Store: s.store.Store}
	if served := s.visits(s.server(store), 20); served != 20 || store.leases != 20 {
		t.Errorf("%d of 20 were served, with %d requests for money, want 20", served, store.leases)
	}
}

// TestOnlyChoicesAreExpectedToCost chooses units with caps, and none for every other visitor. When
// the server has stopped, the ledger expects the cost of what was chosen.
func TestOnlyChoicesAreExpectedToCost(t *testing.T) {
	s := newStage(t, ads.ByFrequency)
	c := s.campaign(limited(ads.Budget{Total: 9_000_000}))
	for range 3 {
		s.unit(c, 1_000_000, func(u *ads.Unit) { perClick(u); oncePerDay(u) })
	}
	served := ads.Micros(0)
	for range 50 {
		served += ads.Micros(s.visits(s.Service, 1) + s.visit(s.Service, "regular"))
	}
	if err := s.Close(s.ctx); err != nil {
		t.Fatal(err)
	}
	found, err := s.Ledgers(s.ctx, []ads.CampaignID{c.ID})
	if expected := found[c.ID].Expected; err != nil || served != 53 || expected != served*10_000 {
		t.Errorf("%d was expected for %d ads, want 10,000 for each of 53 (%v)", expected, served, err)
	}
}

// TestLeasesPayForWhatIsChosen does things in random order on two servers: choices by visitors at
// their caps and by others, impressions, changes of the budget, and time. Each impression is billed
// if it is recorded in time, nothing more is taken than the budget has, and in the end nothing is on
// lease but what was chosen.
func TestLeasesPayForWhatIsChosen(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		d := newDelivery(t)
		rt.Repeat(map[string]func(*rapid.T){
			"choose": d.choose,
			"choose during a choice": func(rt *rapid.T) {
				d.store.before = func() { d.choose(rt) }
				d.choose(rt)
				d.store.before = nil
			},
			"show":   d.show,
			"budget": d.changeBudget,
			"wait": func(rt *rapid.T) {
				d.now = d.now.Add(time.Duration(rapid.IntRange(1, 2_500).Draw(rt, "ms")) * time.Millisecond)
			},
			"tidy": func(rt *rapid.T) {
				if err := d.server(rt).Settle(d.ctx); err != nil {
					rt.Fatal(err)
				}
			},
			"": d.check,
		})
		d.finish(rt)
	})
}

type delivery struct {
	*stage
	store   *slow
	servers [2]*adserver.Service
	c       ads.Campaign
	budget  ads.Micros
	taken   ads.Micros // before the last step
	open    []adserver.Choice
	set     ads.Micros // what was chosen
	price   map[ads.UnitID]ads.Micros
}

func newDelivery(t *testing.T) *delivery {
	d := &delivery{stage: newStage(t, ads.ByFrequency), budget: 40_000, price: map[ads.UnitID]ads.Micros{}}
	d.store = &slow{Store: d.stage.store.Store}
	d.c = d.campaign(limited(ads.Budget{Total: d.budget}))
	for i, cost := range []ads.Micros{3_000, 2_000, 1_000, 1_000} {
		d.price[d.unit(d.c, cost*1_000, func(u *ads.Unit) {
			if i < 3 {
				oncePerDay(u)
			}
		})] = cost
	}
	for i := range d.servers {
		d.servers[i] = d.stage.server(d.store)
	}
	return d
}

func (d *delivery) server(rt *rapid.T) *adserver.Service {
	return d.servers[rapid.IntRange(0, 1).Draw(rt, "server")]
}

func (d *delivery) choose(rt *rapid.T) {
	r := d.request(rapid.IntRange(1, 3).Draw(rt, "count"))
	r.Visitor = fmt.Sprint("visitor-", rapid.IntRange(1, 4).Draw(rt, "visitor"))
	choices, err := d.server(rt).Choose(d.ctx, r)
	if err != nil {
		rt.Fatal(err)
	}
	for _, c := range choices {
		d.open = append(d.open, c)
		d.set += d.price[c.Unit]
	}
}

func (d *delivery) show(rt *rapid.T) {
	if len(d.open) == 0 {
		rt.Skip("nothing was chosen")
	}
	i := rapid.IntRange(0, len(d.open)-1).Draw(rt, "choice")
	c := d.open[i]
	d.open = append(d.open[:i], d.open[i+1:]...)
	before := d.spent(d.c)
	if recorded, err := d.server(rt).RecordImpression(d.ctx, c.ImpressionToken); err != nil || !recorded {
		rt.Fatal(recorded, err)
	}
	if cost := d.spent(d.c) - before; cost != d.price[c.Unit] {
		rt.Fatalf("an impression cost %d, want %d", cost, d.price[c.Unit])
	}
}

func (d *delivery) changeBudget(rt *rapid.T) {
	d.budget = ads.Micros(rapid.IntRange(1, 60).Draw(rt, "budget")) * 1_000
	d.stage.budget(d.server(rt), d.c, ads.Budget{Total: d.budget})
}

func (d *delivery) ledger(rt *rapid.T) ads.Ledger {
	found, err := d.Ledgers(d.ctx, []ads.CampaignID{d.c.ID})
	if err != nil {
		rt.Fatal(err)
	}
	return found[d.c.ID]
}

func (d *delivery) check(rt *rapid.T) {
	l := d.ledger(rt)
	if l.Taken > max(d.budget, d.taken) || l.Taken < d.set {
		rt.Fatalf("%d is taken of %d, before it was %d; %d was chosen", l.Taken, d.budget, d.taken, d.set)
	}
	d.taken = l.Taken
}

func (d *delivery) finish(rt *rapid.T) {
	for _, s := range d.servers {
		if err := s.Close(d.ctx); err != nil {
			rt.Fatal(err)
		}
	}
	if l := d.ledger(rt); l.Taken != d.set {
		rt.Fatalf("%d is taken, but ads for %d were chosen", l.Taken, d.set)
	}
}
