package adsmodel

import (
	"context"
	"time"

	"plaza/ads"
)

// Lease implements ads.Budgets.
func (m *Store) Lease(ctx context.Context, r ads.LeaseRequest) (*ads.Lease, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c, ok := m.campaigns[r.Campaign]
	if !ok || ctx.Err() != nil {
		return nil, ctx.Err()
	}
	m.giveBack(r.Return)
	ledger := m.ledgers[c.ID]
	lease := c.Grant(&ledger, r)
	if lease != nil {
		m.ledgers[c.ID], m.leases[lease.ID] = ledger, *lease
	}
	return lease, nil
}

// Return implements ads.Budgets.
func (m *Store) Return(ctx context.Context, r ads.Return) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	m.giveBack(r)
	return nil
}

func (m *Store) giveBack(r ads.Return) {
	lease, ok := m.leases[r.Lease.ID]
	if !ok {
		return
	}
	ledger := m.ledgers[lease.Campaign]
	ledger.GiveBack(&lease, r.Used)
	m.ledgers[lease.Campaign], m.leases[lease.ID] = ledger, lease
}

// Expect implements ads.Budgets.
func (m *Store) Expect(ctx context.Context, e ads.Expectation) (ads.Micros, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c, ok := m.campaigns[e.Campaign]
	if !ok || ctx.Err() != nil {
		return 0, ctx.Err()
	}
	ledger := m.ledgers[c.ID]
	amount := c.Expect(&ledger, e)
	m.ledgers[c.ID] = ledger
	return amount, nil
}

// Settle implements ads.Budgets.
func (m *Store) Settle(ctx context.Context, now time.Time) (settled int, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for id, lease := range m.leases {
		if settled == ads.MaxSettled || lease.SettleAt.After(now) {
			continue
		}
		ledger := m.ledgers[lease.Campaign]
		ledger.Settle(&lease)
		m.ledgers[lease.Campaign] = ledger
		delete(m.leases, id)
		settled++
	}
	return settled, ctx.Err()
}

// Ledgers implements ads.Budgets.
func (m *Store) Ledgers(_ context.Context, ids []ads.CampaignID) (map[ads.CampaignID]ads.Ledger, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	found := map[ads.CampaignID]ads.Ledger{}
	for _, id := range ids {
		if ledger, ok := m.ledgers[id]; ok {
			found[id] = ledger
		}
	}
	return found, nil
}

func (m *Store) charge(campaign ads.CampaignID, r *ads.Recording) (ads.Micros, string) {
	if r.Cost == 0 {
		return 0, ""
	}
	c, ledger := m.campaigns[campaign], m.ledgers[campaign]
	var from *ads.Lease
	if lease, ok := m.leases[r.Lease]; ok {
		from = &lease
	}
	day, billed := c.Charge(&ledger, from, r)
	if !billed {
		return 0, ""
	}
	m.ledgers[campaign] = ledger
	if from != nil {
		m.leases[r.Lease] = *from
	}
	return r.Cost, day
}
