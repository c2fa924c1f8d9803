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
	epochs  int      // how many have begun, in all purses
	returns []*grant // leases of which a part must be returned
}

func newWallet(t till, o Options) *wallet {
	return &wallet{till: t, now: o.Now, spawn: o.Go, patience: cmp.Or(o.Patience, defaultPatience), purses: map[purseKey]*purse{}}
}

// hold puts aside a cost. It waits for the database only if the server's balance is too small, and
// gives up if no more is available. revision is that of the campaign as the caller knows it: money
// that an earlier one granted is not spent.
func (w *wallet) hold(ctx context.Context, key purseKey, revision int, cost ads.Micros) (*grant, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := w.purse(key)
	w.notice(p, revision)
	for ctx.Err() == nil {
		if p.fetching != nil {
			w.wait(ctx, p, p.fetching)
			continue
		}
		now := w.now()
		if g := p.take(cost, now); g != nil {
			return g, true
		}
		if p.refuses(cost, now) {
			return nil, false
		}
		w.fetch(key, p, cost, now)
	}
	return nil, false
}

// notice begins a new epoch if the campaign has changed: its budget may be another one.
func (w *wallet) notice(p *purse, revision int) {
	if revision > p.revision {
		p.revision, p.epoch, p.again = revision, w.nextEpoch(), time.Time{}
	}
}

// nextEpoch returns an epoch that no purse had before, not even one that has been dropped.
func (w *wallet) nextEpoch() int {
	w.epochs++
	return w.epochs
}

func (w *wallet) purse(key purseKey) *purse {
	p := w.purses[key]
	if p == nil {
		p = &purse{epoch: w.nextEpoch()}
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

// fetch starts to exchange the rest of the balance for the amount that all waiting choices need, or
// more. The balance cannot be used meanwhile.
func (w *wallet) fetch(key purseKey, p *purse, cost ads.Micros, now time.Time) {
	fetched := make(chan struct{})
	next := &grant{Lease: ads.Lease{ID: ads.LeaseID{ID: id.New()}, Campaign: key.campaign}, key: key, epoch: p.epoch}
	old := p.empty()
	e := exchange{
		next: next, unused: emptied(old),
		request: ads.LeaseRequest{ID: next.ID, Campaign: key.campaign, Price: cost, Count: 1 + p.waiting, Now: now},
	}
	if !key.expects() {
		e.returns = returnsOf(old)
	}
	p.fetching, p.next = fetched, next
	p.waiting++
	w.mu.Unlock()
	w.spawn(func() {
		amount, err := w.ask(&e)
		w.mu.Lock()
		defer w.mu.Unlock()
		if err != nil { // report a lasting error on every other call only
			w.giveBack(append(old, next)...)
			cost = 0
		}
		p.fill(next, amount, cost, w.now()) // measure from now: fetching may have taken longer than a balance lasts
		p.fetching, p.next = nil, nil
		close(fetched)
	})
	w.mu.Lock()
	p.waiting--
}

// exchange is what a fetch gives back and asks for.
type exchange struct {
	request ads.LeaseRequest
	next    *grant
	returns []ads.Return // of the leases that are exchanged
	unused  ads.Micros   // the rest of what is exchanged
}

// ask fetches money. It usually has one lease to return, and does so in the same transaction.
func (w *wallet) ask(e *exchange) (ads.Micros, error) {
	ctx, cancel := context.WithTimeout(context.Background(), w.patience)
	defer cancel()
	r, key := e.request, e.next.key
	if key.expects() {
		return w.till.Expect(ctx, ads.Expectation{
			Campaign: r.Campaign, Kind: key.kind, Price: key.price, Each: r.Price, Count: r.Count, Return: e.unused, Now: r.Now,
		})
	}
	for i, each := range e.returns {
		if i == 0 {
			r.Return = each
		} else if err := w.till.Return(ctx, each); err != nil {
			return 0, err
		}
	}
	lease, err := w.till.Lease(ctx, r)
	if err != nil || lease == nil {
		return 0, err
	}
	e.next.Lease = *lease
	return lease.Amount, nil
}

// back returns what was put aside and not used. The next choice can spend it, even if its lease has
// been exchanged meanwhile: the exchange has left it on the lease.
func (w *wallet) back(g *grant, cost ads.Micros) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.purse(g.key).put(g, cost)
}

// giveBack schedules the rest of leases to be returned. Expected costs fade by themselves.
func (w *wallet) giveBack(grants ...*grant) {
	for _, g := range grants {
		if !g.key.expects() {
			w.returns = append(w.returns, g)
		}
	}
}

// spent makes the wallet read the campaign's ledger again before it chooses another of the
// campaign's ads that are paid for by the click or by the conversion.
func (w *wallet) spent(campaign ads.CampaignID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for key, p := range w.purses {
		if key.campaign != campaign || !key.expects() {
			continue
		}
		next := p.next
		isCurrent := next != nil && next.epoch == p.epoch
		p.epoch = w.nextEpoch()
		if isCurrent { // otherwise, frequent clicks could keep choices waiting
			next.epoch = p.epoch
		}
	}
}

// refunded makes the wallet ask again for money that was refused to some campaigns.
func (w *wallet) refunded(campaigns ...ads.CampaignID) {
	if len(campaigns) == 0 {
		return
	}
	set := make(map[ads.CampaignID]bool, len(campaigns))
	for _, c := range campaigns {
		set[c] = true
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for key, p := range w.purses {
		if set[key.campaign] {
			p.again = time.Time{}
		}
	}
}

// tidy returns what is left of balances that have expired, or of all of them. If that fails, the
// next call tries again to return leases; expected costs fade.
func (w *wallet) tidy(ctx context.Context, all bool) error {
	var returned []ads.CampaignID
	defer func() { w.refunded(returned...) }()
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
		returned = append(returned, g.Campaign)
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
		if p.fetching != nil || p.waiting > 0 {
			continue
		}
		old := p.expire(now, all)
		rest := emptied(old)
		w.giveBack(old...)
		if key.expects() && rest > 0 {
			unused = append(unused, ads.Expectation{Campaign: key.campaign, Kind: key.kind, Return: rest, Now: now})
		}
		if (all || !now.Before(p.until)) && !now.Before(p.again) {
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
	r := g.toReturn()
	return g, r
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
		other.purses[key] = p.copied()
	}
	other.epochs = w.epochs
	return other
}
