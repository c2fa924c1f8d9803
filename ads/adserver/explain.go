package adserver

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"plaza/ads"
	"plaza/fault"
)

// Explanation describes how a choice treats a unit.
type Explanation struct {
	Unit     ads.UnitID
	Headline string
	Verdict  Verdict
	Score    float64
	ECPM     ads.Micros
	Matched  []string
	// KeywordWeight is the highest weight among the matching keywords, by which the score was
	// multiplied; 1 if none of them has a weight.
	KeywordWeight int
}

// Explain returns what Choose would do with each unit of the zone now, without doing it: the
// winners first, then by score. If units tie, a real choice may draw another winner. Errors are
// those of Choose, and NOT_FOUND for "zone".
func (s *Service) Explain(ctx context.Context, r Request) ([]Explanation, error) {
	t, err := s.ranking(ctx, r, s.store.Zone)
	if err != nil {
		return nil, err
	}
	if t.currency == "" {
		return nil, fault.NotFound("zone", "zone")
	}
	if err := s.judge(ctx, t, r.Count); err != nil {
		return nil, present(err)
	}
	return explanations(append(t.order, t.rest...)), nil
}

// judge rehearses a choice with a copy of the real balances, and gives each contender its verdict.
func (s *Service) judge(ctx context.Context, t *ranking, count int) error {
	if len(t.order) == 0 {
		return nil
	}
	books, err := s.books(ctx, t)
	if err != nil {
		return err
	}
	seen, err := s.store.Profile(ctx, t.profile)
	if err != nil {
		return err
	}
	stakes, alone := newStakes(s.wallet.copied(books.copied(), t.now), count), s.wallet.copied(books, t.now)
	funded := fund(t.order, count, func(c *contender) bool { return stakes.cover(ctx, c) })
	for _, c := range t.order {
		switch {
		case c.verdict != Lost:
		case !seen.Allows(c.Caps, t.now):
			c.verdict = AtCap
		case c.Limited && !c.covered && !alone.affords(ctx, c):
			c.verdict = NoBudget
		}
	}
	for _, i := range seen.Reserve(reservation(t.profile, funded, count, t.now)) {
		funded[i].verdict = Won
	}
	return nil
}

// books reads the ledgers of all campaigns in the ranking.
func (s *Service) books(ctx context.Context, t *ranking) (*drafts, error) {
	var ids []ads.CampaignID
	for _, c := range t.order {
		if c.Limited {
			ids = append(ids, c.Campaign)
		}
	}
	slices.SortFunc(ids, func(a, b ads.CampaignID) int { return a.Compare(b.ID) })
	ids = slices.Compact(ids)
	if len(ids) == 0 {
		return &drafts{}, nil
	}
	campaigns, err := s.store.Campaigns(ctx, ids)
	if err != nil {
		return nil, err
	}
	ledgers, err := s.store.Ledgers(ctx, ids)
	return &drafts{campaigns, ledgers}, err
}

// drafts are copies of ledgers: a till that leaves the stored ones unchanged.
type drafts struct {
	campaigns map[ads.CampaignID]*ads.Campaign
	ledgers   map[ads.CampaignID]ads.Ledger
}

// copied returns copies of the copies.
func (d *drafts) copied() *drafts { return &drafts{d.campaigns, maps.Clone(d.ledgers)} }

func (d *drafts) change(campaign ads.CampaignID, change func(*ads.Campaign, *ads.Ledger)) {
	if c := d.campaigns[campaign]; c != nil {
		ledger := d.ledgers[campaign]
		change(c, &ledger)
		d.ledgers[campaign] = ledger
	}
}

// Lease implements till.
func (d *drafts) Lease(_ context.Context, r ads.LeaseRequest) (lease *ads.Lease, err error) {
	d.change(r.Campaign, func(c *ads.Campaign, l *ads.Ledger) {
		l.GiveBack(&r.Return.Lease, r.Return.Used)
		lease = c.Grant(l, r)
	})
	return lease, nil
}

// Return implements till.
func (d *drafts) Return(_ context.Context, r ads.Return) error {
	d.change(r.Lease.Campaign, func(_ *ads.Campaign, l *ads.Ledger) { l.GiveBack(&r.Lease, r.Used) })
	return nil
}

// Expect implements till.
func (d *drafts) Expect(_ context.Context, e ads.Expectation) (amount ads.Micros, err error) {
	d.change(e.Campaign, func(c *ads.Campaign, l *ads.Ledger) { amount = c.Expect(l, e) })
	return amount, nil
}

func explanations(all []*contender) []Explanation {
	list := make([]Explanation, len(all))
	for i, c := range all {
		list[i] = Explanation{Unit: c.Unit, Headline: c.Headline, Verdict: c.verdict, Score: c.score, ECPM: c.ECPM, Matched: c.matched, KeywordWeight: c.boost}
	}
	slices.SortStableFunc(list, func(a, b Explanation) int {
		if (a.Verdict == Won) != (b.Verdict == Won) {
			return map[bool]int{true: -1, false: 1}[a.Verdict == Won]
		}
		return cmp.Compare(b.Score, a.Score)
	})
	return list
}
