package adserver

import (
	"cmp"
	"context"
	"sync"
	"time"

	"plaza/ads"
	"plaza/id"
)

const (
	// askAgain is how long a server considers a budget used up before it asks again.
	askAgain = time.Second
	// defaultPatience is how long a server waits for a balance from the database.
	defaultPatience = 5 * time.Second
)

// till is where a wallet gets its money; Budgets implements it.
type till interface {
	Lease(ctx context.Context, r ads.LeaseRequest) (*ads.Lease, error)
	Return(ctx context.Context, r ads.Return) error
	Expect(ctx context.Context, e ads.Expectation) (ads.Micros, error)
}

// wallet is the money that a server may spend. Choices spend from it without asking the database,
// for LeaseLife or until it does not cover the next choice. Then the rest is exchanged for another
// lease.
type wallet struct {
	till     till
	now      func() time.Time
	spawn    func(func())
	patience time.Duration // how long a fetch may take

	mu      sync.Mutex
	purses  map[purseKey]*purse
	returns []*grant // leases that are no longer used but have money left
}

// purseKey identifies what a purse pays for.
type purseKey struct {
	campaign ads.CampaignID
	kind     ads.Kind
	price    ads.Micros // of a click or a conversion; 0: impressions of any price
}

// expects reports whether a purse holds expected costs instead of money.
func (k *purseKey) expects() bool { return k.kind != ads.Impression }

// purse is one balance.
type purse struct {
	grant *grant // where the balance comes from; nil if the purse is empty
	left  ads.Micros
	until time.Time // when the balance expires

	refused  ads.Micros    // until again, anything that costs this or more is refused
	again    time.Time     //
	fetching chan struct{} // closed when the current fetch ends; nil if there is none
	waiting  int           // how many choices wait for a fetch
}

// grant is a lease, or an expected cost, and the amount that choices have put aside from it.
type grant struct {
	ads.Lease
	key  purseKey
	used ads.Micros
}

func newWallet(t till, o Options) *wallet {
	return &wallet{till: t, now: o.Now, spawn: o.Go, patience: cmp.Or(o.Patience, defaultPatience), purses: map[purseKey]*purse{}}
}

// hold puts aside a cost. It waits for the database only if the server's balance is too small, and
// gives up if no more is available.
func (w *wallet) hold(ctx context.Context, key purseKey, cost ads.Micros) (*grant, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := w.purse(key)
	for ctx.Err() == nil {
		if p.fetching != nil {
			w.wait(ctx, p, p.fetching)
			continue
		}
		now := w.now()
		if p.take(cost, now) {
			return p.grant, true
		}
		if p.refuses(cost, now) {
			return nil, false
		}
		w.fetch(key, p, cost, now)
	}
	return nil, false
}

func (w *wallet) purse(key purseKey) *purse {
	p := w.purses[key]
	if p == nil {
		p = &purse{}
		w.purses[key] = p
	}
	return p
}

// wait releases the lock until a fetch has ended.
func (w *wallet) wait(ctx context.Context, p *purse, fetched <-chan struct{}) {
	p.waiting++
	w.mu.Unlock()
	select {
	case <-fetched:
	case <-ctx.Done():
	}
	w.mu.Lock()
	p.waiting--
}

func (p *purse) take(cost ads.Micros, now time.Time) bool {
	if p.left < cost || !now.Before(p.until) {
		return false
	}
	p.left -= cost
	p.grant.used += cost
	return true
}

func (p *purse) refuses(cost ads.Micros, now time.Time) bool {
	return cost >= p.refused && now.Before(p.again)
}

// fetch starts to exchange the rest of the balance for the amount that all waiting choices need, or
// more. The balance cannot be used meanwhile.
func (w *wallet) fetch(key purseKey, p *purse, cost ads.Micros, now time.Time) {
	fetched := make(chan struct{})
	old, left := p.grant, p.left
	p.fetching, p.grant, p.left = fetched, nil, 0
	next := &grant{Lease: ads.Lease{ID: ads.LeaseID{ID: id.New()}, Campaign: key.campaign}, key: key}
	r := ads.LeaseRequest{ID: next.ID, Campaign: key.campaign, Price: cost, Count: 1 + p.waiting, Now: now}
	if left > 0 {
		r.Return = ads.Return{Lease: old.Lease, Used: old.used}
	}
	p.waiting++
	w.mu.Unlock()
	w.spawn(func() {
		amount, err := w.ask(next, r, left)
		w.mu.Lock()
		defer w.mu.Unlock()
		if err != nil { // report a lasting error on every other call only
			w.giveBack(old)
			w.giveBack(next)
			cost = 0
		}
		p.fill(next, amount, cost, w.now()) // measure from now: fetching may have taken longer than a balance lasts
		p.fetching = nil
		close(fetched)
	})
	w.mu.Lock()
	p.waiting--
}

// ask fetches money.
func (w *wallet) ask(next *grant, r ads.LeaseRequest, left ads.Micros) (ads.Micros, error) {
	ctx, cancel := context.WithTimeout(context.Background(), w.patience)
	defer cancel()
	if key := next.key; key.expects() {
		return w.till.Expect(ctx, ads.Expectation{
			Campaign: r.Campaign, Kind: key.kind, Price: key.price, Each: r.Price, Count: r.Count, Return: left, Now: r.Now,
		})
	}
	lease, err := w.till.Lease(ctx, r)
	if err != nil || lease == nil {
		return 0, err
	}
	next.Lease = *lease
	return lease.Amount, nil
}

// fill stores what was fetched, or remembers what was refused.
func (p *purse) fill(next *grant, amount, cost ads.Micros, now time.Time) {
	if amount == 0 {
		p.refused, p.again = cost, now.Add(askAgain)
		return
	}
	p.grant, p.left, p.until, p.again = next, amount, now.Add(ads.LeaseLife), time.Time{}
}

// back returns what was put aside and not used.
func (w *wallet) back(g *grant, cost ads.Micros) {
	w.mu.Lock()
	defer w.mu.Unlock()
	g.used -= cost
	if p := w.purses[g.key]; p != nil && p.grant == g {
		p.left += cost
		return
	}
	w.giveBack(g)
}

// giveBack schedules the rest of a grant to be returned. Expected costs fade by themselves.
func (w *wallet) giveBack(g *grant) {
	if g != nil && !g.key.expects() {
		w.returns = append(w.returns, g)
	}
}

// spent makes the wallet read the campaign's ledger again before it chooses another of the
// campaign's ads that are paid for by the click or by the conversion.
func (w *wallet) spent(campaign ads.CampaignID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for key, p := range w.purses {
		if key.campaign == campaign && key.expects() {
			p.until = time.Time{}
		}
	}
}

// tidy returns what is left of balances that have expired, or of all of them. If that fails, the
// next call tries again.
func (w *wallet) tidy(ctx context.Context, all bool) error {
	for _, e := range w.ended(all) {
		if _, err := w.till.Expect(ctx, e); err != nil {
			return err
		}
	}
	for {
		g, r := w.nextReturn()
		if g == nil {
			return nil
		}
		if err := w.till.Return(ctx, r); err != nil {
			w.undo(g)
			return err
		}
	}
}

// undo puts back what could not be returned.
func (w *wallet) undo(g *grant) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.giveBack(g)
}

// ended empties balances that have expired. It returns the expectations that were not used.
func (w *wallet) ended(all bool) (unused []ads.Expectation) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.now()
	for key, p := range w.purses {
		if p.fetching != nil || p.waiting > 0 || (!all && now.Before(p.until)) {
			continue
		}
		switch {
		case p.left == 0:
		case key.expects():
			unused = append(unused, ads.Expectation{Campaign: key.campaign, Kind: key.kind, Return: p.left, Now: now})
		default:
			w.giveBack(p.grant)
		}
		p.grant, p.left = nil, 0
		if !now.Before(p.again) {
			delete(w.purses, key)
		}
	}
	return unused
}

func (w *wallet) nextReturn() (*grant, ads.Return) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.returns) == 0 {
		return nil, ads.Return{}
	}
	g := w.returns[0]
	w.returns = w.returns[1:]
	return g, ads.Return{Lease: g.Lease, Used: g.used}
}

// copied returns a wallet with the same balances of some campaigns, and their ledgers as its till:
// using it does not change this one.
func (w *wallet) copied(books *drafts, now time.Time) *wallet {
	w.mu.Lock()
	defer w.mu.Unlock()
	other := newWallet(books, Options{Now: func() time.Time { return now }, Go: func(do func()) { do() }})
	for key, p := range w.purses {
		if books.campaigns[key.campaign] == nil {
			continue
		}
		c := &purse{left: p.left, until: p.until, refused: p.refused, again: p.again}
		if p.grant != nil {
			g := *p.grant
			c.grant = &g
		}
		other.purses[key] = c
	}
	return other
}
