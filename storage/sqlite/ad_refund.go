package sqlite

import (
	"context"
	"time"

	"plaza/ads"
)

const chargedColumns = `choice, kind, unit, campaign, zone, at, billed, day, profile`

// chargedBy are the statements that read a selection, one for each index. All take the same
// arguments.
type chargedBy struct{ sum, oldest, newest *statement }

func defineChargedBy(index, key string) chargedBy {
	source := ` FROM ad_recordings ` + index + ` WHERE ` + key + ` AND billed > 0 AND campaign = ?1 AND at >= ?2 AND at < ?3
		AND (?4 IS NULL OR unit = ?4) AND (?5 IS NULL OR choice = ?5) AND (?6 = '' OR kind = ?6)
		AND (?7 IS NULL OR profile = ?7) AND (?8 IS NULL OR address = ?8) `
	return chargedBy{
		sum:    define(`SELECT count(*), coalesce(sum(billed), 0) FROM (SELECT billed ` + source + ` LIMIT ?9)`),
		oldest: define(`SELECT ` + chargedColumns + source + ` ORDER BY at LIMIT ?9`),
		newest: define(`SELECT ` + chargedColumns + source + ` ORDER BY at DESC LIMIT ?9`),
	}
}

var (
	chargedByChoice   = defineChargedBy(`NOT INDEXED`, `choice = ?5`)
	chargedByPerson   = defineChargedBy(`INDEXED BY ad_recordings_by_profile`, `profile = ?7`)
	chargedByAddress  = defineChargedBy(`INDEXED BY ad_recordings_by_address`, `address = ?8`)
	chargedByCampaign = defineChargedBy(`INDEXED BY ad_recordings_billed`, `campaign = ?1`)
)

var (
	refundRecording = define(`UPDATE ad_recordings SET refunded = billed, billed = 0, invalid = ?, refund = ? WHERE choice = ? AND kind = ?`)
	burstOf         = define(`SELECT ` + chargedColumns + ` FROM ad_recordings WHERE profile = ?1 AND ` + clickBefore + ` AND due IS NULL AND invalid = '' ORDER BY at`)
	conversionsOf   = define(`SELECT ` + chargedColumns + ` FROM ad_recordings WHERE choice IN (SELECT unhex(value) FROM json_each(?))
		AND kind = 'CONVERSION' AND due IS NULL AND invalid = ''`)
	burstWaiting = define(`UPDATE ad_recordings SET invalid = 'TOO_MANY', ` + noLongerWaiting + ` WHERE profile = ?1 AND ` + clickBefore + ` AND due IS NOT NULL
		RETURNING at / 3600000000 * 3600000000`)
	staleHour = define(`INSERT INTO ad_stale_hours (hour) VALUES (?) ON CONFLICT DO NOTHING`)

	insertRefund = define(`INSERT INTO ad_refunds (` + refundColumns + `) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
	refundByID   = define(`SELECT ` + refundColumns + ` FROM ad_refunds WHERE id = ?`)
	updateRefund = define(`UPDATE ad_refunds SET count = ?, amount = ?, done = ? WHERE id = ?`)
	openRefunds  = define(`SELECT id FROM ad_refunds WHERE done = 0 ORDER BY id LIMIT 100`)
	refundsPage  = defineDirected(`SELECT ` + refundColumns + ` FROM ad_refunds WHERE campaign = ?4 AND id > ?1 AND id < ?2 ORDER BY id $order LIMIT ?3`)
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
		s.Campaign.Bytes(), moment(s.From), moment(s.To), orNull(s.Unit.ID), orNull(s.Choice.ID), string(s.Kind), orNull(s.Person.ID), orNull(s.Address.ID), limit,
	}
}

// Charged implements ads.Refunds.
func (s adStore) Charged(ctx context.Context, of ads.Selection) (ads.Charges, error) {
	return read(ctx, s.file, func(w *work) (c ads.Charges, err error) {
		by := chargedFor(&of)
		if _, err := w.row(by.sum, []any{&c.Count, &c.Amount}, selectionArgs(&of, ads.MaxRefund+1)...); err != nil {
			return c, err
		}
		newest, err := all(w, by.newest, scanCharged, selectionArgs(&of, ads.MaxCharges)...)
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

func scanCharged(scan scan) (c charged, err error) {
	var zone string
	err = scan(into(&c.Choice.ID), &c.Kind, into(&c.Unit.ID), into(&c.campaign.ID), &zone, scanTime{&c.At}, &c.Amount, &c.day, into(&c.Person.ID))
	if err == nil {
		c.Zone, err = ads.ParseZoneID(zone)
	}
	return c, err
}

// Begin implements ads.Refunds.
func (s adStore) Begin(ctx context.Context, r ads.Refund) error {
	return s.file.update(ctx, func(w *work) error {
		_, err := w.exec(insertRefund, r.ID.Bytes(), r.Campaign.Bytes(), orNull(r.Unit.ID), orNull(r.Choice.ID), string(r.Kind), orNull(r.Person.ID), orNull(r.Address.ID),
			moment(r.From), moment(r.To), r.Most, r.By, r.Reason, moment(r.Begun), r.Count, int64(r.Amount), r.Done)
		return err
	})
}

func scanRefund(scan scan) (*ads.Refund, error) {
	r := &ads.Refund{}
	err := scan(into(&r.ID.ID), into(&r.Campaign.ID), into(&r.Unit.ID), into(&r.Choice.ID), &r.Kind, into(&r.Person.ID), into(&r.Address.ID),
		scanTime{&r.From}, scanTime{&r.To}, &r.Most, &r.By, &r.Reason, scanTime{&r.Begun}, &r.Count, &r.Amount, &r.Done)
	return r, err
}

// Continue implements ads.Refunds.
func (s adStore) Continue(ctx context.Context, refund ads.RefundID, now time.Time) (r *ads.Refund, err error) {
	err = s.file.update(ctx, func(w *work) error {
		r, err = w.continueRefund(refund, now)
		return err
	})
	if err != nil {
		return nil, err
	}
	return r, nil
}

func (w *work) continueRefund(refund ads.RefundID, now time.Time) (*ads.Refund, error) {
	found, err := all(w, refundByID, scanRefund, refund.Bytes())
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
	some, err := all(w, chargedFor(&r.Selection).oldest, scanCharged, selectionArgs(&r.Selection, min(ads.MaxRefunded, r.Most-r.Count))...)
	if err != nil {
		return nil, err
	}
	if err := w.takeBack(some, ads.Refunded, r.ID, now); err != nil {
		return nil, err
	}
	r.Count += len(some)
	for i := range some {
		r.Amount += some[i].Amount
	}
	r.Done = len(some) == 0 || r.Count >= r.Most
	_, err = w.exec(updateRefund, r.Count, int64(r.Amount), r.Done, r.ID.Bytes())
	return r, err
}

// takeBack refunds recordings.
func (w *work) takeBack(some []charged, why ads.Invalid, refund ads.RefundID, now time.Time) error {
	for i := range some {
		c := &some[i]
		if _, err := w.exec(refundRecording, string(why), orNull(refund.ID), c.Choice.Bytes(), string(c.Kind)); err != nil {
			return err
		}
		if err := w.countBy(c.Unit, c.Kind, -1); err != nil {
			return err
		}
		if _, err := w.exec(staleHour, moment(c.At.Truncate(time.Hour))); err != nil {
			return err
		}
		if err := w.giveBack(c, now); err != nil {
			return err
		}
	}
	return nil
}

func (w *work) giveBack(c *charged, now time.Time) error {
	if c.Amount == 0 {
		return nil
	}
	campaigns, err := w.campaigns([]ads.CampaignID{c.campaign})
	if err != nil {
		return err
	}
	ledger, err := w.ledger(c.campaign)
	if err != nil {
		return err
	}
	campaigns[c.campaign].Refund(&ledger, c.Amount, c.day, now)
	return w.putLedger(c.campaign, ledger)
}

// takeBackBurst refunds the clicks that a person made just before a click that exposed the burst,
// and the conversions of those clicks. Clicks that still wait are settled as well, without being
// judged.
func (w *work) takeBackBurst(r *ads.Recording) error {
	before := []any{orNull(r.Profile.ID), forgotten(r.At), moment(r.At), r.Choice.Bytes()}
	some, err := all(w, burstOf, scanCharged, before...)
	if err != nil {
		return err
	}
	hours, err := all(w, burstWaiting, func(scan scan) (hour int64, err error) {
		err = scan(&hour)
		return hour, err
	}, before...)
	if err != nil {
		return err
	}
	for _, hour := range hours {
		if _, err := w.exec(staleHour, hour); err != nil {
			return err
		}
	}
	choices := make([]ads.ChoiceID, len(some))
	for i := range some {
		choices[i] = some[i].Choice
	}
	converted, err := all(w, conversionsOf, scanCharged, hexList(choices))
	if err != nil {
		return err
	}
	return w.takeBack(append(some, converted...), ads.TooMany, ads.RefundID{}, r.At)
}

// Unfinished implements ads.Refunds.
func (s adStore) Unfinished(ctx context.Context) ([]ads.RefundID, error) {
	return read(ctx, s.file, func(w *work) ([]ads.RefundID, error) {
		return all(w, openRefunds, func(scan scan) (i ads.RefundID, err error) {
			err = scan(into(&i.ID))
			return i, err
		})
	})
}

// ListRefunds implements ads.Refunds.
func (s adStore) ListRefunds(ctx context.Context, of ads.CampaignID, p ads.Page) ([]*ads.Refund, error) {
	return listAds(ctx, s.file, refundsPage, p, scanRefund, of.Bytes())
}
