package adserver

import (
	"context"
	"slices"

	"plaza/ads"
)

// stakes is the money that one choice puts aside while it does not know yet which contenders it may
// choose. It chooses at most count of them, so it needs no more than count amounts from a purse,
// however many contenders the purse pays for.
type stakes struct {
	wallet *wallet
	count  int
	of     map[purseKey][]*stake
}

// stake is an amount that pays for one contender.
type stake struct {
	by     *contender // the one that it was put aside for; another one can use it
	grant  *grant
	amount ads.Micros
	spent  bool
}

func newStakes(w *wallet, count int) *stakes {
	return &stakes{wallet: w, count: count}
}

// cover makes sure that there is money for a contender, whichever of those before it are chosen.
func (s *stakes) cover(ctx context.Context, c *contender) bool {
	key, cost := priceOf(c.RunningUnit)
	if s.shares(key, cost) {
		c.covered = true
		return true
	}
	g, ok := s.wallet.hold(ctx, key, c.CampaignRevision, cost)
	if ok {
		s.add(key, &stake{by: c, grant: g, amount: cost})
		c.covered = true
	}
	return ok
}

func (s *stakes) add(key purseKey, each *stake) {
	if s.of == nil { // in most choices nothing is limited
		s.of = map[purseKey][]*stake{}
	}
	s.of[key] = append(s.of[key], each)
}

// shares reports whether there are as many stakes as the choice can need, and each is enough.
func (s *stakes) shares(key purseKey, cost ads.Micros) bool {
	all := s.of[key]
	return len(all) >= s.count && !slices.ContainsFunc(all, func(each *stake) bool { return each.amount < cost })
}

// settle pays for the contenders that were chosen, and puts the rest back. A contender has its own
// stake, or one that is enough and that no other needs.
func (s *stakes) settle(funded []*contender, chosen []int) {
	for _, i := range chosen {
		s.spend(funded[i], func(each *stake) bool { return each.by == funded[i] })
	}
	for _, i := range chosen {
		s.spend(funded[i], func(each *stake) bool { return !each.spent })
	}
	for _, all := range s.of {
		for _, each := range all {
			if !each.spent {
				s.wallet.back(each.grant, each.amount)
			}
		}
	}
}

// spend pays for a contender from one of the stakes, unless it costs nothing or is paid for.
func (s *stakes) spend(c *contender, from func(*stake) bool) {
	if !c.covered || c.grant != nil {
		return
	}
	key, cost := priceOf(c.RunningUnit)
	i := slices.IndexFunc(s.of[key], from)
	if i < 0 {
		return
	}
	each := s.of[key][i]
	each.spent, c.grant = true, each.grant
	if rest := each.amount - cost; rest > 0 {
		s.wallet.back(each.grant, rest)
	}
}

// affords reports whether the wallet covers what a contender is expected to cost.
func (w *wallet) affords(ctx context.Context, c *contender) bool {
	key, cost := priceOf(c.RunningUnit)
	g, ok := w.hold(ctx, key, c.CampaignRevision, cost)
	if ok {
		w.back(g, cost)
	}
	return ok
}
