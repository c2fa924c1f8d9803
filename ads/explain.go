package ads

import (
	"cmp"
	"context"
	"slices"
	"time"

	"plaza/id"
)

// Explanation says what a choice makes of a unit.
type Explanation struct {
	Unit     UnitID
	Headline string
	Verdict  Verdict
	Score    float64
	ECPM     Micros
	Matched  []string
}

// Explain says what Choose would do just now with each unit of the zone, and does nothing of it: the winners first, then by score. Of
// a tie, another choice may draw another winner. Errors are those of Choose.
func (s *Service) Explain(ctx context.Context, r Request) ([]Explanation, error) {
	t, err := s.ranking(ctx, r, s.store.Zone)
	if err != nil {
		return nil, err
	}
	if err := s.judge(ctx, t.order, t.profile, r.Count, t.now); err != nil {
		return nil, present(err)
	}
	return explanations(append(t.order, t.rest...)), nil
}

// judge gives each contender the verdict that a choice would.
func (s *Service) judge(ctx context.Context, order []*contender, profile ProfileID, count int, now time.Time) error {
	if len(order) == 0 {
		return nil
	}
	has, err := s.funds(ctx, order, now)
	if err != nil {
		return err
	}
	funded := slices.DeleteFunc(slices.Clone(order), func(c *contender) bool {
		if has[c.Campaign] || !c.Limited {
			return false
		}
		c.verdict = NoBudget
		return true
	})
	seen, err := s.store.Profile(ctx, profile)
	if err != nil {
		return err
	}
	for _, c := range funded {
		if !seen.allows(c.Caps, now) {
			c.verdict = AtCap
		}
	}
	for _, i := range seen.Reserve(reservation(profile, funded, count, now)) {
		funded[i].verdict = Won
	}
	return nil
}

// funds says which of the campaigns have money just now: in this server's wallet, or free in their budget.
func (s *Service) funds(ctx context.Context, order []*contender, now time.Time) (map[CampaignID]bool, error) {
	needs := map[CampaignID]Micros{}
	for _, c := range order {
		if _, most := c.expected(); c.Limited {
			needs[c.Campaign] = max(needs[c.Campaign], most)
		}
	}
	if len(needs) == 0 {
		return nil, nil
	}
	ids := make([]CampaignID, 0, len(needs))
	for campaign := range needs {
		ids = append(ids, campaign)
	}
	campaigns, err := s.store.Campaigns(ctx, ids)
	if err != nil {
		return nil, err
	}
	ledgers, err := s.store.Ledgers(ctx, ids)
	if err != nil {
		return nil, err
	}
	has := map[CampaignID]bool{}
	for campaign, need := range needs {
		ledger, c := ledgers[campaign], campaigns[campaign]
		has[campaign] = s.wallet.has(campaign, need) ||
			(c != nil && c.Grant(&ledger, LeaseRequest{ID: LeaseID{id.New()}, Campaign: campaign, Need: need, Now: now}) != nil)
	}
	return has, nil
}

func explanations(all []*contender) []Explanation {
	list := make([]Explanation, len(all))
	for i, c := range all {
		list[i] = Explanation{Unit: c.Unit, Headline: c.Headline, Verdict: c.verdict, Score: c.score, ECPM: c.ECPM, Matched: c.matched}
	}
	slices.SortStableFunc(list, func(a, b Explanation) int {
		if (a.Verdict == Won) != (b.Verdict == Won) {
			return map[bool]int{true: -1, false: 1}[a.Verdict == Won]
		}
		return cmp.Compare(b.Score, a.Score)
	})
	return list
}
