package ads

import (
	"context"
	"sync"
	"time"

	"plaza/id"
)

const (
	// askAgain is how long a server takes a budget for used up before it asks again.
	askAgain = time.Second
	// leaseTimeout bounds the wait for the database.
	leaseTimeout = 5 * time.Second
)

// wallet is the money that a server has on lease. Choices spend from it without asking the database; another lease is fetched
// when half of one is gone.
type wallet struct {
	store Budgets
	now   func() time.Time
	spawn func(func())

	mu     sync.Mutex
	purses map[CampaignID]*purse
}

// purse is a campaign's part of the wallet.
type purse struct {
	leases   []*note
	low      Micros        // below it another lease is fetched
	again    time.Time     // before it the database is not asked
	fetching chan struct{} // closed when the fetch under way has ended; nil: there is none
}

// note is a lease, and what is left of it.
type note struct {
	id    LeaseID
	left  Micros
	until time.Time
}

func newWallet(store Budgets, now func() time.Time, spawn func(func())) *wallet {
	return &wallet{store: store, now: now, spawn: spawn, purses: map[CampaignID]*purse{}}
}

// hold puts aside a cost. It waits for the database only where the server has no lease at hand: when it meets a campaign for the
// first time in a while, or when others have spent the last one meanwhile; it gives up when no more is to be had. need is the least that a lease must have.
func (w *wallet) hold(ctx context.Context, campaign CampaignID, cost, need Micros) (LeaseID, bool) {
	for {
		lease, ok, fetched := w.take(campaign, cost, need)
		if ok || fetched == nil {
			return lease, ok
		}
		select {
		case <-fetched:
		case <-ctx.Done():
			return LeaseID{}, false
		}
	}
}

// take spends what is at hand, and has more fetched where that gets low. fetched ends when there may be more.
func (w *wallet) take(campaign CampaignID, cost, need Micros) (lease LeaseID, ok bool, fetched <-chan struct{}) {
	w.mu.Lock()
	now := w.now()
	p := w.purses[campaign]
	if p == nil {
		p = &purse{}
		w.purses[campaign] = p
	}
	p.forget(now)
	lease, ok = p.take(cost)
	fetch := p.fetching == nil && p.left() <= p.low && !now.Before(p.again)
	if fetch {
		p.fetching = make(chan struct{})
	}
	fetched = p.fetching
	w.mu.Unlock()
	if fetch {
		w.spawn(func() { w.fetch(p, LeaseRequest{ID: LeaseID{id.New()}, Campaign: campaign, Need: need, Now: now}) })
	}
	return lease, ok, fetched
}

func (w *wallet) fetch(p *purse, r LeaseRequest) {
	ctx, cancel := context.WithTimeout(context.Background(), leaseTimeout)
	defer cancel()
	lease, err := w.store.Lease(ctx, r)
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil || lease == nil { // an error that lasts shows in every other call
		p.again = r.Now.Add(askAgain)
	} else {
		p.leases = append(p.leases, &note{lease.ID, lease.Amount, lease.UseUntil})
		p.low = lease.Amount / 2
	}
	close(p.fetching)
	p.fetching = nil
}

// back returns what was put aside and not used.
func (w *wallet) back(campaign CampaignID, lease LeaseID, cost Micros) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, n := range w.purses[campaign].leases {
		if n.id == lease {
			n.left += cost
		}
	}
}

// forget drops leases that have ended: what is left of them goes back when they are settled.
func (p *purse) forget(now time.Time) {
	kept := p.leases[:0]
	for _, n := range p.leases {
		if now.Before(n.until) && n.left > 0 {
			kept = append(kept, n)
		}
	}
	p.leases = kept
	if len(kept) == 0 {
		p.low = 0
	}
}

func (p *purse) take(cost Micros) (LeaseID, bool) {
	for _, n := range p.leases {
		if n.left >= cost {
			n.left -= cost
			return n.id, true
		}
	}
	return LeaseID{}, false
}

func (p *purse) left() Micros {
	var sum Micros
	for _, n := range p.leases {
		sum += n.left
	}
	return sum
}

// has says whether a cost is at hand.
func (w *wallet) has(campaign CampaignID, cost Micros) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := w.purses[campaign]
	if p == nil {
		return false
	}
	p.forget(w.now())
	return p.left() >= cost
}
