package adstest

import (
	"sync/atomic"
	"time"

	"plaza/ads"
	"plaza/ads/adserver"
	"plaza/id"
	"plaza/internal/testtime"
)

var servingCases = []testCase{
	{"ServersTogetherSpendABudgetExactly", serversSpendExactly},
	{"ServersTogetherKeepCaps", serversKeepCaps},
}

// servers are two servers on one database, which share a clock.
type servers struct {
	w     *world
	both  [2]*adserver.Service
	clock atomic.Int64 // Unix milliseconds
}

func (w *world) servers() *servers {
	s := &servers{w: w}
	s.clock.Store(noon.UnixMilli())
	s.start()
	return s
}

func (s *servers) start() {
	for i := range s.both {
		// What a fetch that timed out has leased comes back only with time, and the clock does not
		// move.
		s.both[i] = adserver.New(s.w.Store, adserver.Options{
			Now: func() time.Time { return time.UnixMilli(s.clock.Load()).UTC() }, Patience: 2 * testtime.Patience(),
		})
	}
}

func (s *servers) choose(i int, r adserver.Request) []adserver.Choice {
	choices, err := s.both[i%2].Choose(s.w.ctx, r)
	if err != nil {
		s.w.t.Errorf("Choose: %v", err)
	}
	return choices
}

// drain has 64 concurrent clients ask for ads until the wanted number was served, and then a few
// times more.
func (s *servers) drain(r adserver.Request, want int64) []adserver.Choice {
	var served atomic.Int64
	all := make(chan adserver.Choice, want+crowd)
	deadline := time.Now().Add(2 * testtime.Patience())
	together(func(i int) {
		for more := 3; more > 0 && time.Now().Before(deadline); {
			if served.Load() >= want {
				more--
			}
			for _, c := range s.choose(i, r) {
				served.Add(1)
				select {
				case all <- c:
				default: // far too many: the check below reports the count
				}
			}
		}
	})
	s.w.same(served.Load(), want, "how many ads were served")
	close(all)
	var choices []adserver.Choice
	for c := range all {
		choices = append(choices, c)
	}
	return choices
}

// serversSpendExactly serves 1,000 impressions with a budget for 1,000, records some of them, and
// serves the rest again once they have expired. This includes the leases of a server that was
// killed.
func serversSpendExactly(w *world) {
	const budget, shown = 1_000, 300
	c, zone := w.budgeted(ads.Budget{Total: budget * 1_000}), w.zone("top")
	u := w.place(c, cpm(1_000_000), zone)
	s, r := w.servers(), adserver.Request{Site: zone.Site, Zone: zone.Name, Count: 1}
	choices := s.drain(r, budget)
	w.same(w.ledger(c).Taken, ads.Micros(budget*1_000), "what is taken")
	var recorded atomic.Int64
	together(func(i int) {
		for n := i; n < shown; n += crowd {
			if once, err := s.both[n%2].RecordImpression(w.ctx, choices[n].ImpressionToken); err != nil || !once {
				w.t.Errorf("RecordImpression: %v, %v", once, err)
				continue
			}
			recorded.Add(1)
		}
	})
	w.same(recorded.Load(), int64(shown), "what was recorded")
	for _, each := range s.both {
		w.ok(each.Drain(w.ctx), "Drain")
	}
	w.ok(s.both[0].CatchUp(w.ctx), "CatchUp")
	w.same(w.ledger(c).Spent, ads.Micros(shown*1_000), "what was spent")
	w.counts(u, shown, 0)

	s.clock.Add(time.Hour.Milliseconds())
	s.start() // the old servers are gone
	w.ok(s.both[0].Settle(w.ctx), "Settle")
	w.same(w.ledger(c).Taken, ads.Micros(shown*1_000), "what is taken after an hour")
	s.drain(r, budget-shown)
}

func serversKeepCaps(w *world) {
	zone := w.zone("top")
	a := w.advertiser()
	campaign := ads.Campaign{
		ID: ads.CampaignID{ID: id.New()}, Advertiser: a.ID, Name: "Spring", State: ads.Active, Caps: []ads.Cap{{Count: 5, Per: ads.Day}},
	}
	w.add(ads.Batch{Campaigns: []ads.Campaign{campaign}})
	capped := unit(campaign, cpm(3_000_000), zone)
	capped.Caps = []ads.Cap{{Count: 3, Per: ads.Hour}}
	w.add(ads.Batch{Units: []ads.Unit{capped, unit(campaign, cpm(2_000_000), zone)}})
	free := w.place(w.campaign(), cpm(1_000_000), zone)

	s := w.servers()
	var first, both, all atomic.Int64
	together(func(i int) {
		for _, c := range s.choose(i, adserver.Request{Site: zone.Site, Zone: zone.Name, Count: 1, Visitor: "visitor"}) {
			all.Add(1)
			if c.Unit != free {
				both.Add(1)
			}
			if c.Unit == capped.ID {
				first.Add(1)
			}
		}
	})
	w.same(all.Load(), int64(crowd), "the ads that were served")
	w.same(first.Load(), int64(3), "those of the unit with a cap of 3")
	w.same(both.Load(), int64(5), "those of the campaign with a cap of 5")
}
