package adserver

import (
	"slices"
	"time"

	"plaza/ads"
)

// purseKey identifies what a purse pays for.
type purseKey struct {
	campaign ads.CampaignID
	kind     ads.Kind
	price    ads.Micros // of a click or a conversion; 0: impressions of any price
}

// expects reports whether a purse holds expected costs instead of money.
func (k *purseKey) expects() bool { return k.kind != ads.Impression }

// purse is one balance. It usually has one grant. It has several if a choice has put back money of
// a grant that was exchanged meanwhile.
type purse struct {
	grants []*grant  // those that have something left
	until  time.Time // when the newest grant expires

	// Only grants of the present epoch are spent. The others must be exchanged, because the budget
	// has changed.
	epoch    int
	revision int // the newest revision of the campaign that choices have seen

	refused  ads.Micros    // until again, anything that costs this or more is refused
	again    time.Time     // when to ask again
	fetching chan struct{} // closed when the current fetch ends; nil if there is none
	next     *grant        // what the current fetch asks for
	waiting  int           // how many choices wait for a fetch
}

// grant is a lease, or an expected cost: the amount that choices have put aside from it, and what
// they can still put aside. The sum of both never grows: what was given back is gone.
type grant struct {
	ads.Lease
	key        purseKey
	used, left ads.Micros
	until      time.Time // when left expires
	epoch      int
}

// take puts aside a cost, and returns the grant that it comes from; nil if none has enough.
func (p *purse) take(cost ads.Micros, now time.Time) *grant {
	for i, g := range p.grants {
		if g.left < cost || !p.valid(g, now) {
			continue
		}
		g.left -= cost
		g.used += cost
		if g.left == 0 {
			p.grants = slices.Delete(p.grants, i, i+1)
		}
		return g
	}
	return nil
}

// valid reports whether what is left of a grant can be spent.
func (p *purse) valid(g *grant, now time.Time) bool { return g.epoch == p.epoch && now.Before(g.until) }

// put puts back what take has put aside. If that is enough for what was refused, it is no longer
// refused.
func (p *purse) put(g *grant, cost ads.Micros) {
	g.used -= cost
	g.left += cost
	if !slices.Contains(p.grants, g) {
		p.grants = append(p.grants, g)
	}
	if p.refused > 0 && p.left() >= p.refused {
		p.again = time.Time{}
	}
}

func (p *purse) left() (sum ads.Micros) {
	for _, g := range p.grants {
		sum += g.left
	}
	return sum
}

func (p *purse) refuses(cost ads.Micros, now time.Time) bool {
	return cost >= p.refused && now.Before(p.again)
}

// fill stores what was fetched, or remembers what was refused. A refusal of an earlier epoch says
// nothing about the present budget.
func (p *purse) fill(next *grant, amount, cost ads.Micros, now time.Time) {
	if amount == 0 {
		if next.epoch == p.epoch {
			p.refused, p.again = cost, now.Add(askAgain)
		}
		return
	}
	next.left, next.until = amount, now.Add(ads.LeaseLife)
	p.grants, p.until, p.again = append(p.grants, next), next.until, time.Time{}
}

// empty removes all grants.
func (p *purse) empty() []*grant {
	old := p.grants
	p.grants = nil
	return old
}

// expire removes the grants that can no longer be spent, or all of them.
func (p *purse) expire(now time.Time, all bool) (old []*grant) {
	p.grants = slices.DeleteFunc(p.grants, func(g *grant) bool {
		ends := all || !p.valid(g, now)
		if ends {
			old = append(old, g)
		}
		return ends
	})
	return old
}

// emptied makes what is left of grants unavailable, and returns the sum.
func emptied(grants []*grant) (sum ads.Micros) {
	for _, g := range grants {
		sum += g.left
		g.left = 0
	}
	return sum
}

func returnsOf(grants []*grant) []ads.Return {
	all := make([]ads.Return, len(grants))
	for i, g := range grants {
		all[i] = g.toReturn()
	}
	return all
}

// toReturn returns what gives back the rest of a lease. What choices can still put aside stays.
func (g *grant) toReturn() ads.Return { return ads.Return{Lease: g.Lease, Used: g.used + g.left} }

// copied returns a purse with the same balance. Its leases are as large as they are now in the
// ledger, where earlier exchanges have made them smaller.
func (p *purse) copied() *purse {
	c := &purse{until: p.until, epoch: p.epoch, revision: p.revision, refused: p.refused, again: p.again}
	for _, g := range p.grants {
		same := *g
		same.Amount = g.used + g.left
		c.grants = append(c.grants, &same)
	}
	return c
}
