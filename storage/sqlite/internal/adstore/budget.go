package adstore

import (
	"context"
	"time"

	"plaza/ads"
	"plaza/storage/sqlite/internal/sqldb"
)

var (
	adLedgersByID = sqldb.Define(`SELECT campaign, taken, spent, day, day_taken, day_spent, expected, faded, awaited, awaited_hour FROM ad_ledgers
		WHERE campaign IN (SELECT unhex(value) FROM json_each(?))`)
	putAdLedger = sqldb.Define(`INSERT INTO ad_ledgers (campaign, taken, spent, day, day_taken, day_spent, expected, faded, awaited, awaited_hour)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT DO UPDATE SET taken = excluded.taken, spent = excluded.spent, day = excluded.day,
		day_taken = excluded.day_taken, day_spent = excluded.day_spent, expected = excluded.expected, faded = excluded.faded,
		awaited = excluded.awaited, awaited_hour = excluded.awaited_hour`)

	insertAdLease = sqldb.Define(`INSERT INTO ad_leases (id, campaign, amount, spent, day, use_until, settle_at) VALUES (?, ?, ?, ?, ?, ?, ?)`)
	adLeaseByID   = sqldb.Define(`SELECT id, campaign, amount, spent, day FROM ad_leases WHERE id = ?`)
	adLeasesDue   = sqldb.Define(`SELECT id, campaign, amount, spent, day FROM ad_leases WHERE settle_at <= ? ORDER BY settle_at LIMIT ?`)
	spendAdLease  = sqldb.Define(`UPDATE ad_leases SET spent = ? WHERE id = ?`)
	shrinkAdLease = sqldb.Define(`UPDATE ad_leases SET amount = ? WHERE id = ?`)
	deleteAdLease = sqldb.Define(`DELETE FROM ad_leases WHERE id = ?`)
)

// Lease implements ads.Budgets.
func (s *Store) Lease(ctx context.Context, r ads.LeaseRequest) (lease *ads.Lease, err error) {
	err = s.db.Update(ctx, func(tx *sqldb.Tx) error {
		if err := returnLease(tx, r.Return); err != nil {
			return err
		}
		lease, err = grantLease(tx, r)
		return err
	})
	if err != nil {
		return nil, err
	}
	return lease, nil
}

func grantLease(tx *sqldb.Tx, r ads.LeaseRequest) (*ads.Lease, error) {
	campaigns, err := readCampaigns(tx, []ads.CampaignID{r.Campaign})
	if err != nil || campaigns[r.Campaign] == nil {
		return nil, err
	}
	ledger, err := readLedger(tx, r.Campaign)
	if err != nil {
		return nil, err
	}
	lease := campaigns[r.Campaign].Grant(&ledger, r)
	if lease == nil {
		return nil, nil
	}
	_, err = tx.Exec(insertAdLease, lease.ID.Bytes(), lease.Campaign.Bytes(), int64(lease.Amount), int64(lease.Spent), lease.Day,
		sqldb.Moment(lease.UseUntil), sqldb.Moment(lease.SettleAt))
	if err != nil {
		return nil, err
	}
	return lease, putLedger(tx, r.Campaign, ledger)
}

// Return implements ads.Budgets.
func (s *Store) Return(ctx context.Context, r ads.Return) error {
	return s.db.Update(ctx, func(tx *sqldb.Tx) error { return returnLease(tx, r) })
}

func returnLease(tx *sqldb.Tx, r ads.Return) error {
	if r.Lease.ID.IsZero() {
		return nil
	}
	leases, err := sqldb.All(tx, adLeaseByID, scanLease, r.Lease.ID.Bytes())
	if err != nil || len(leases) == 0 {
		return err
	}
	lease := &leases[0]
	ledger, err := readLedger(tx, lease.Campaign)
	if err != nil {
		return err
	}
	ledger.GiveBack(lease, r.Used)
	if _, err := tx.Exec(shrinkAdLease, int64(lease.Amount), lease.ID.Bytes()); err != nil {
		return err
	}
	return putLedger(tx, lease.Campaign, ledger)
}

// Expect implements ads.Budgets.
func (s *Store) Expect(ctx context.Context, e ads.Expectation) (amount ads.Micros, err error) {
	err = s.db.Update(ctx, func(tx *sqldb.Tx) error {
		amount, err = expect(tx, e)
		return err
	})
	if err != nil {
		return 0, err
	}
	return amount, nil
}

func expect(tx *sqldb.Tx, e ads.Expectation) (ads.Micros, error) {
	campaigns, err := readCampaigns(tx, []ads.CampaignID{e.Campaign})
	if err != nil || campaigns[e.Campaign] == nil {
		return 0, err
	}
	ledger, err := readLedger(tx, e.Campaign)
	if err != nil {
		return 0, err
	}
	amount := campaigns[e.Campaign].Expect(&ledger, e)
	return amount, putLedger(tx, e.Campaign, ledger)
}

func readLedger(tx sqldb.Reader, campaign ads.CampaignID) (ads.Ledger, error) {
	found, err := readLedgers(tx, []ads.CampaignID{campaign})
	return found[campaign], err
}

func putLedger(tx *sqldb.Tx, campaign ads.CampaignID, l ads.Ledger) error {
	_, err := tx.Exec(putAdLedger, campaign.Bytes(), int64(l.Taken), int64(l.Spent), l.Day, int64(l.DayTaken), int64(l.DaySpent),
		int64(l.Expected), l.Faded, int64(l.Awaited), l.AwaitedHour)
	return err
}

// Ledgers implements ads.Budgets.
func (s *Store) Ledgers(ctx context.Context, ids []ads.CampaignID) (map[ads.CampaignID]ads.Ledger, error) {
	return sqldb.Read(ctx, s.db, func(tx sqldb.Reader) (map[ads.CampaignID]ads.Ledger, error) { return readLedgers(tx, ids) })
}

func readLedgers(tx sqldb.Reader, ids []ads.CampaignID) (map[ads.CampaignID]ads.Ledger, error) {
	return sqldb.ByKey(tx, adLedgersByID, func(scan sqldb.Scan) (campaign ads.CampaignID, l ads.Ledger, err error) {
		err = scan(sqldb.Into(&campaign.ID), &l.Taken, &l.Spent, &l.Day, &l.DayTaken, &l.DaySpent, &l.Expected, &l.Faded, &l.Awaited, &l.AwaitedHour)
		return campaign, l, err
	}, sqldb.HexList(ids))
}

// Settle implements ads.Budgets.
func (s *Store) Settle(ctx context.Context, now time.Time) (settled int, err error) {
	err = s.db.Update(ctx, func(tx *sqldb.Tx) error {
		leases, err := sqldb.All(tx, adLeasesDue, scanLease, sqldb.Moment(now), ads.MaxSettled)
		for _, lease := range leases {
			if err := settleLease(tx, &lease); err != nil {
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

func settleLease(tx *sqldb.Tx, lease *ads.Lease) error {
	ledger, err := readLedger(tx, lease.Campaign)
	if err != nil {
		return err
	}
	ledger.Settle(lease)
	if err := putLedger(tx, lease.Campaign, ledger); err != nil {
		return err
	}
	_, err = tx.Exec(deleteAdLease, lease.ID.Bytes())
	return err
}

// scanLease reads what charging and settling need.
func scanLease(scan sqldb.Scan) (l ads.Lease, err error) {
	err = scan(sqldb.Into(&l.ID.ID), sqldb.Into(&l.Campaign.ID), &l.Amount, &l.Spent, &l.Day)
	return l, err
}

// charge spends what a recording costs. It returns the amount billed, and the day whose budget was
// charged.
func charge(tx *sqldb.Tx, campaign ads.CampaignID, r *ads.Recording) (ads.Micros, string, error) {
	if r.Cost == 0 {
		return 0, "", nil
	}
	campaigns, err := readCampaigns(tx, []ads.CampaignID{campaign})
	if err != nil {
		return 0, "", err
	}
	ledger, err := readLedger(tx, campaign)
	if err != nil {
		return 0, "", err
	}
	leases, err := sqldb.All(tx, adLeaseByID, scanLease, r.Lease.Bytes())
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
		if _, err := tx.Exec(spendAdLease, int64(lease.Spent), lease.ID.Bytes()); err != nil {
			return 0, "", err
		}
	}
	return r.Cost, day, putLedger(tx, campaign, ledger)
}
