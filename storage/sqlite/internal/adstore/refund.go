package adstore

import (
	"context"
	"time"

	"plaza/ads"
	"plaza/storage/sqlite/internal/sqldb"
)

const chargedColumns = `choice, kind, unit, campaign, zone, at, billed, day, profile`

// chargedBy are the statements that read a selection, one for each index. All take the same
// arguments.
type chargedBy struct{ sum, oldest, newest *sqldb.Statement }

func defineChargedBy(index, key string) chargedBy {
	source := ` FROM ad_recordings ` + index + ` WHERE ` + key + ` AND billed > 0 AND campaign = ?1 AND at >= ?2 AND at < ?3
		AND (?4 IS NULL OR unit = ?4) AND (?5 IS NULL OR choice = ?5) AND (?6 = '' OR kind = ?6)
		AND (?7 IS NULL OR profile = ?7) AND (?8 IS NULL OR address = ?8) `
	return chargedBy{
		sum:    sqldb.Define(`SELECT count(*), coalesce(sum(billed), 0) FROM (SELECT billed ` + source + ` LIMIT ?9)`),
		oldest: sqldb.Define(`SELECT ` + chargedColumns + source + ` ORDER BY at LIMIT ?9`),
		newest: sqldb.Define(`SELECT ` + chargedColumns + source + ` ORDER BY at DESC LIMIT ?9`),
	}
}

var (
	chargedByChoice   = defineChargedBy(`NOT INDEXED`, `choice = ?5`)
	chargedByPerson   = defineChargedBy(`INDEXED BY ad_recordings_by_profile`, `profile = ?7`)
	chargedByAddress  = defineChargedBy(`INDEXED BY ad_recordings_by_address`, `address = ?8`)
	chargedByCampaign = defineChargedBy(`INDEXED BY ad_recordings_billed`, `campaign = ?1`)
)

var (
	refundRecording = sqldb.Define(`UPDATE ad_recordings SET refunded = billed, billed = 0, invalid = ?, refund = ? WHERE choice = ? AND kind = ?`)
	burstOf         = sqldb.Define(`SELECT ` + chargedColumns + ` FROM ad_recordings WHERE profile = ?1 AND ` + clickBefore + ` AND due IS NULL AND invalid = '' ORDER BY at`)
	conversionsOf   = sqldb.Define(`SELECT ` + chargedColumns + ` FROM ad_recordings WHERE choice IN (
			SELECT choice FROM ad_recordings WHERE profile = ?1 AND ` + clickBefore + `)
		AND kind = 'CONVERSION' AND due IS NULL AND invalid = ''`)
	burstWaiting = sqldb.Define(`UPDATE ad_recordings SET invalid = 'TOO_MANY', ` + noLongerWaiting + ` WHERE profile = ?1 AND ` + clickBefore + ` AND due IS NOT NULL
		RETURNING at / 3600000000 * 3600000000`)

	insertRefund = sqldb.Define(`INSERT INTO ad_refunds (` + refundColumns + `) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
	refundByID   = sqldb.Define(`SELECT ` + refundColumns + ` FROM ad_refunds WHERE id = ?`)
	updateRefund = sqldb.Define(`UPDATE ad_refunds SET count = ?, amount = ?, done = ? WHERE id = ?`)
	openRefunds  = sqldb.Define(`SELECT id FROM ad_refunds WHERE done = 0 ORDER BY id LIMIT 100`)
	refundsPage  = sqldb.DefineDirected(`SELECT ` + refundColumns + ` FROM ad_refunds WHERE campaign = ?4 AND id > ?1 AND id < ?2 ORDER BY id $order LIMIT ?3`)
)

const refundColumns = `id, campaign, unit, choice, kind, person, address, from_at, to_at, most, by_user, reason, begun, count, amount, done`

// chargedFor are the statements for a selection.
func chargedFor(s *ads.Selection) chargedBy {
	switch {
	case !s.Choice.IsZero():
		return chargedByChoice
	case !s.Person.IsZero():
		return chargedByPerson
	case !s.Address.IsZero():
		return chargedByAddress
	default:
		return chargedByCampaign
	}
}

func selectionArgs(s *ads.Selection, limit int) []any {
	return []any{
		s.Campaign.Bytes(), sqldb.Moment(s.From), sqldb.Moment(s.To), sqldb.OrNull(s.Unit.ID), sqldb.OrNull(s.Choice.ID), string(s.Kind), sqldb.OrNull(s.Person.ID), sqldb.OrNull(s.Address.ID), limit,
	}
}

// Charged implements ads.Refunds.
func (s *Store) Charged(ctx context.Context, of ads.Selection) (ads.Charges, error) {
	return sqldb.Read(ctx, s.db, func(tx sqldb.Reader) (c ads.Charges, err error) {
		by := chargedFor(&of)
		if _, err := tx.Row(by.sum, []any{&c.Count, &c.Amount}, selectionArgs(&of, ads.MaxRefund+1)...); err != nil {
			return c, err
		}
		newest, err := sqldb.All(tx, by.newest, scanCharged, selectionArgs(&of, ads.MaxCharges)...)
		for i := range newest {
			c.Newest = append(c.Newest, newest[i].Charge)
		}
		return c, err
	})
}

// charged is a charge, with what its refund needs.
type charged struct {
	ads.Charge
	campaign ads.CampaignID
	day      string
}

func scanCharged(scan sqldb.Scan) (c charged, err error) {
	var zone string
	err = scan(sqldb.Into(&c.Choice.ID), &c.Kind, sqldb.Into(&c.Unit.ID), sqldb.Into(&c.campaign.ID), &zone, sqldb.IntoTime(&c.At), &c.Amount, &c.day, sqldb.Into(&c.Person.ID))
	if err == nil {
		c.Zone, err = ads.ParseZoneID(zone)
	}
	return c, err
}

// Begin implements ads.Refunds.
func (s *Store) Begin(ctx context.Context, r ads.Refund) error {
	return s.db.Update(ctx, func(tx *sqldb.Tx) error {
		_, err := tx.Exec(insertRefund, r.ID.Bytes(), r.Campaign.Bytes(), sqldb.OrNull(r.Unit.ID), sqldb.OrNull(r.Choice.ID), string(r.Kind), sqldb.OrNull(r.Person.ID), sqldb.OrNull(r.Address.ID),
			sqldb.Moment(r.From), sqldb.Moment(r.To), r.Most, r.By, r.Reason, sqldb.Moment(r.Begun), r.Count, int64(r.Amount), r.Done)
		return err
	})
}

func scanRefund(scan sqldb.Scan) (*ads.Refund, error) {
	r := &ads.Refund{}
	err := scan(sqldb.Into(&r.ID.ID), sqldb.Into(&r.Campaign.ID), sqldb.Into(&r.Unit.ID), sqldb.Into(&r.Choice.ID), &r.Kind, sqldb.Into(&r.Person.ID), sqldb.Into(&r.Address.ID),
		sqldb.IntoTime(&r.From), sqldb.IntoTime(&r.To), &r.Most, &r.By, &r.Reason, sqldb.IntoTime(&r.Begun), &r.Count, &r.Amount, &r.Done)
	return r, err
}

// Continue implements ads.Refunds.
func (s *Store) Continue(ctx context.Context, refund ads.RefundID, now time.Time) (r *ads.Refund, err error) {
	err = s.db.Update(ctx, func(tx *sqldb.Tx) error {
		r, err = continueRefund(tx, refund, now)
		return err
	})
	if err != nil {
		return nil, err
	}
	return r, nil
}

func continueRefund(tx *sqldb.Tx, refund ads.RefundID, now time.Time) (*ads.Refund, error) {
	found, err := sqldb.All(tx, refundByID, scanRefund, refund.Bytes())
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, ads.ErrNotFound
	}
	r := found[0]
	if r.Done {
		return r, nil
	}
	some, err := sqldb.All(tx, chargedFor(&r.Selection).oldest, scanCharged, selectionArgs(&r.Selection, min(ads.MaxRefunded, r.Most-r.Count))...)
	if err != nil {
		return nil, err
	}
	if err := takeBack(tx, some, ads.Refunded, r.ID, now); err != nil {
		return nil, err
	}
	r.Count += len(some)
	for i := range some {
		r.Amount += some[i].Amount
	}
	r.Done = len(some) == 0 || r.Count >= r.Most
	_, err = tx.Exec(updateRefund, r.Count, int64(r.Amount), r.Done, r.ID.Bytes())
	return r, err
}

// takeBack refunds recordings.
func takeBack(tx *sqldb.Tx, some []charged, why ads.Invalid, refund ads.RefundID, now time.Time) error {
	for i := range some {
		c := &some[i]
		if _, err := tx.Exec(refundRecording, string(why), sqldb.OrNull(refund.ID), c.Choice.Bytes(), string(c.Kind)); err != nil {
			return err
		}
		if err := countBy(tx, c.Unit, c.Kind, -1); err != nil {
			return err
		}
		if _, err := tx.Exec(staleHour, sqldb.Moment(c.At.Truncate(time.Hour))); err != nil {
			return err
		}
		if err := giveBack(tx, c, now); err != nil {
			return err
		}
	}
	return nil
}

func giveBack(tx *sqldb.Tx, c *charged, now time.Time) error {
	if c.Amount == 0 {
		return nil
	}
	campaigns, err := readCampaigns(tx, []ads.CampaignID{c.campaign})
	if err != nil {
		return err
	}
	ledger, err := readLedger(tx, c.campaign)
	if err != nil {
		return err
	}
	campaigns[c.campaign].Refund(&ledger, c.Amount, c.day, now)
	return putLedger(tx, c.campaign, ledger)
}

// takeBackBurst refunds the clicks that a person made just before a click that exposed the burst,
// and the conversions of those clicks, also of those that were invalid before: a refund by hand
// leaves conversions. Clicks that still wait are settled as well, without being judged.
func takeBackBurst(tx *sqldb.Tx, r *ads.Recording) error {
	before := []any{sqldb.OrNull(r.Profile.ID), forgotten(r.At), sqldb.Moment(r.At), r.Choice.Bytes()}
	some, err := sqldb.All(tx, burstOf, scanCharged, before...)
	if err != nil {
		return err
	}
	hours, err := sqldb.All(tx, burstWaiting, func(scan sqldb.Scan) (hour int64, err error) {
		err = scan(&hour)
		return hour, err
	}, before...)
	if err != nil {
		return err
	}
	for _, hour := range hours {
		if _, err := tx.Exec(staleHour, hour); err != nil {
			return err
		}
	}
	converted, err := sqldb.All(tx, conversionsOf, scanCharged, before...)
	if err != nil {
		return err
	}
	return takeBack(tx, append(some, converted...), ads.TooMany, ads.RefundID{}, r.At)
}

// Unfinished implements ads.Refunds.
func (s *Store) Unfinished(ctx context.Context) ([]ads.RefundID, error) {
	return sqldb.Read(ctx, s.db, func(tx sqldb.Reader) ([]ads.RefundID, error) {
		return sqldb.All(tx, openRefunds, func(scan sqldb.Scan) (i ads.RefundID, err error) {
			err = scan(sqldb.Into(&i.ID))
			return i, err
		})
	})
}

// ListRefunds implements ads.Refunds.
func (s *Store) ListRefunds(ctx context.Context, of ads.CampaignID, p ads.Page) ([]*ads.Refund, error) {
	return list(ctx, s.db, refundsPage, p, scanRefund, of.Bytes())
}
