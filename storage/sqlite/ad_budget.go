package sqlite

import (
	"context"
	"time"

	"plaza/ads"
)

var (
	adLedgersByID = define(`SELECT campaign, taken, spent, day, day_taken, day_spent, expected, faded, awaited, awaited_hour FROM ad_ledgers
		WHERE campaign IN (SELECT unhex(value) FROM json_each(?))`)
	putAdLedger = define(`INSERT INTO ad_ledgers (campaign, taken, spent, day, day_taken, day_spent, expected, faded, awaited, awaited_hour)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT DO UPDATE SET taken = excluded.taken, spent = excluded.spent, day = excluded.day,
		day_taken = excluded.day_taken, day_spent = excluded.day_spent, expected = excluded.expected, faded = excluded.faded,
		awaited = excluded.awaited, awaited_hour = excluded.awaited_hour`)

	insertAdLease = define(`INSERT INTO ad_leases (id, campaign, amount, spent, day, use_until, settle_at) VALUES (?, ?, ?, ?, ?, ?, ?)`)
	adLeaseByID   = define(`SELECT id, campaign, amount, spent, day FROM ad_leases WHERE id = ?`)
	adLeasesDue   = define(`SELECT id, campaign, amount, spent, day FROM ad_leases WHERE settle_at <= ? ORDER BY settle_at LIMIT ?`)
	spendAdLease  = define(`UPDATE ad_leases SET spent = ? WHERE id = ?`)
	shrinkAdLease = define(`UPDATE ad_leases SET amount = ? WHERE id = ?`)
	deleteAdLease = define(`DELETE FROM ad_leases WHERE id = ?`)
)

// Lease implements ads.Budgets.
func (s adStore) Lease(ctx context.Context, r ads.LeaseRequest) (lease *ads.Lease, err error) {
	err = s.file.update(ctx, func(w *work) error {
		if err := w.returnLease(r.Return); err != nil {
			return err
		}
		lease, err = w.lease(r)
		return err
	})
	if err != nil {
		return nil, err
	}
	return lease, nil
}

func (w *work) lease(r ads.LeaseRequest) (*ads.Lease, error) {
	campaigns, err := w.campaigns([]ads.CampaignID{r.Campaign})
	if err != nil || campaigns[r.Campaign] == nil {
		return nil, err
	}
	ledger, err := w.ledger(r.Campaign)
	if err != nil {
		return nil, err
	}
	lease := campaigns[r.Campaign].Grant(&ledger, r)
	if lease == nil {
		return nil, nil
	}
	_, err = w.exec(insertAdLease, lease.ID.Bytes(), lease.Campaign.Bytes(), int64(lease.Amount), int64(lease.Spent), lease.Day,
		moment(lease.UseUntil), moment(lease.SettleAt))
	if err != nil {
		return nil, err
	}
	return lease, w.putLedger(r.Campaign, ledger)
}

// Return implements ads.Budgets.
func (s adStore) Return(ctx context.Context, r ads.Return) error {
	return s.file.update(ctx, func(w *work) error { return w.returnLease(r) })
}

func (w *work) returnLease(r ads.Return) error {
	if r.Lease.ID.IsZero() {
		return nil
	}
	leases, err := all(w, adLeaseByID, scanLease, r.Lease.ID.Bytes())
	if err != nil || len(leases) == 0 {
		return err
	}
	lease := &leases[0]
	ledger, err := w.ledger(lease.Campaign)
	if err != nil {
		return err
	}
	ledger.GiveBack(lease, r.Used)
	if _, err := w.exec(shrinkAdLease, int64(lease.Amount), lease.ID.Bytes()); err != nil {
		return err
	}
	return w.putLedger(lease.Campaign, ledger)
}

// Expect implements ads.Budgets.
func (s adStore) Expect(ctx context.Context, e ads.Expectation) (amount ads.Micros, err error) {
	err = s.file.update(ctx, func(w *work) error {
		amount, err = w.expect(e)
		return err
	})
	if err != nil {
		return 0, err
	}
	return amount, nil
}

func (w *work) expect(e ads.Expectation) (ads.Micros, error) {
	campaigns, err := w.campaigns([]ads.CampaignID{e.Campaign})
	if err != nil || campaigns[e.Campaign] == nil {
		return 0, err
	}
	ledger, err := w.ledger(e.Campaign)
	if err != nil {
		return 0, err
	}
	amount := campaigns[e.Campaign].Expect(&ledger, e)
	return amount, w.putLedger(e.Campaign, ledger)
}

func (w *work) ledger(campaign ads.CampaignID) (ads.Ledger, error) {
	found, err := w.ledgers([]ads.CampaignID{campaign})
	return found[campaign], err
}

func (w *work) putLedger(campaign ads.CampaignID, l ads.Ledger) error {
	_, err := w.exec(putAdLedger, campaign.Bytes(), int64(l.Taken), int64(l.Spent), l.Day, int64(l.DayTaken), int64(l.DaySpent),
		int64(l.Expected), l.Faded, int64(l.Awaited), l.AwaitedHour)
	return err
}

// Ledgers implements ads.Budgets.
func (s adStore) Ledgers(ctx context.Context, ids []ads.CampaignID) (map[ads.CampaignID]ads.Ledger, error) {
	return read(ctx, s.file, func(w *work) (map[ads.CampaignID]ads.Ledger, error) { return w.ledgers(ids) })
}

func (w *work) ledgers(ids []ads.CampaignID) (map[ads.CampaignID]ads.Ledger, error) {
	return byKey(w, adLedgersByID, func(scan scan) (campaign ads.CampaignID, l ads.Ledger, err error) {
		err = scan(into(&campaign.ID), &l.Taken, &l.Spent, &l.Day, &l.DayTaken, &l.DaySpent, &l.Expected, &l.Faded, &l.Awaited, &l.AwaitedHour)
		return campaign, l, err
	}, hexList(ids))
}

// Settle implements ads.Budgets.
func (s adStore) Settle(ctx context.Context, now time.Time) (settled int, err error) {
	err = s.file.update(ctx, func(w *work) error {
		leases, err := all(w, adLeasesDue, scanLease, moment(now), ads.MaxSettled)
		for _, lease := range leases {
			if err := w.settle(&lease); err != nil {
				return err
			}
		}
		settled = len(leases)
		return err
	})
	if err != nil {
		return 0, err
	}
	return settled, nil
}

func (w *work) settle(lease *ads.Lease) error {
	ledger, err := w.ledger(lease.Campaign)
	if err != nil {
		return err
	}
	ledger.Settle(lease)
	if err := w.putLedger(lease.Campaign, ledger); err != nil {
		return err
	}
	_, err = w.exec(deleteAdLease, lease.ID.Bytes())
	return err
}

// scanLease reads what charging and settling need.
func scanLease(scan scan) (l ads.Lease, err error) {
	err = scan(into(&l.ID.ID), into(&l.Campaign.ID), &l.Amount, &l.Spent, &l.Day)
	return l, err
}

// charge spends what a recording costs: what was billed, and of which day's budget.
func (w *work) charge(campaign ads.CampaignID, r *ads.Recording) (ads.Micros, string, error) {
	if r.Cost == 0 {
		return 0, "", nil
	}
	campaigns, err := w.campaigns([]ads.CampaignID{campaign})
	if err != nil {
		return 0, "", err
	}
	ledger, err := w.ledger(campaign)
	if err != nil {
		return 0, "", err
	}
	leases, err := all(w, adLeaseByID, scanLease, r.Lease.Bytes())
	if err != nil {
		return 0, "", err
	}
	var lease *ads.Lease
	if len(leases) > 0 {
		lease = &leases[0]
	}
	day, billed := campaigns[campaign].Charge(&ledger, lease, r)
	if !billed {
		return 0, "", nil
	}
	if lease != nil {
		if _, err := w.exec(spendAdLease, int64(lease.Spent), lease.ID.Bytes()); err != nil {
			return 0, "", err
		}
	}
	return r.Cost, day, w.putLedger(campaign, ledger)
}
