package sqlite

import (
	"context"
	"encoding/hex"
	"strconv"
	"time"

	"plaza/ads"
	"plaza/id"
)

const tallied = `sum(r.kind = 'IMPRESSION' AND r.invalid = ''), sum(r.kind = 'CLICK' AND r.invalid = ''), sum(r.invalid <> ''), sum(r.billed), sum(r.refunded),
	sum(r.kind = 'CONVERSION' AND r.invalid = '')`

var (
	deleteTallies = define(`DELETE FROM ad_tallies WHERE hour >= ? AND hour < ?`)
	tallyUnits    = define(`INSERT INTO ad_tallies
		SELECT r.at / 3600000000 * 3600000000, r.campaign, r.unit, r.zone, '', u.bid_currency, ` + tallied + `
		FROM ad_recordings r CROSS JOIN ad_units u ON u.id = r.unit WHERE r.at >= ? AND r.at < ? AND r.due IS NULL GROUP BY 1, 2, 3, 4, 6`)
	tallyKeywords = define(`INSERT INTO ad_tallies
		SELECT r.at / 3600000000 * 3600000000, r.campaign, x'', '', k.value, u.bid_currency, ` + tallied + `
		FROM ad_recordings r CROSS JOIN json_each(r.keywords) k CROSS JOIN ad_units u ON u.id = r.unit
		WHERE r.at >= ? AND r.at < ? AND r.due IS NULL GROUP BY 1, 2, 5, 6`)
	noLongerStale   = define(`DELETE FROM ad_stale_hours WHERE hour >= ? AND hour < ?`)
	staleHours      = define(`SELECT hour FROM ad_stale_hours WHERE hour > 0`)
	putRolledUp     = define(`INSERT INTO ad_rollups (name, until) VALUES ('reports', ?) ON CONFLICT DO UPDATE SET until = max(until, excluded.until)`)
	rolledUp        = define(`SELECT until FROM ad_rollups WHERE name = 'reports'`)
	oldestRecording = define(`SELECT at FROM ad_recordings WHERE at > 0 ORDER BY at LIMIT 1`)
	adReport        = define(`SELECT CASE ?1 WHEN 'HOUR' THEN hour WHEN 'DAY' THEN hour / 86400000000 * 86400000000
		WHEN 'CAMPAIGN' THEN hex(campaign) WHEN 'UNIT' THEN hex(unit) WHEN 'ZONE' THEN zone ELSE keyword END,
		currency, sum(impressions), sum(clicks), sum(invalid), sum(spend), sum(refunded), sum(conversions)
		FROM ad_tallies WHERE hour >= ?2 AND hour < ?3 AND (?4 IS NULL OR campaign = ?4) AND (keyword <> '') = (?1 = 'KEYWORD')
		GROUP BY 1, 2`)
)

// RollUp implements ads.Reports.
func (s adStore) RollUp(ctx context.Context, from, to, until time.Time) error {
	return s.file.update(ctx, func(w *work) error {
		for _, st := range []*statement{deleteTallies, tallyUnits, tallyKeywords, noLongerStale} {
			if _, err := w.exec(st, moment(from), moment(to)); err != nil {
				return err
			}
		}
		_, err := w.exec(putRolledUp, moment(until))
		return err
	})
}

// RolledUp implements ads.Reports.
func (s adStore) RolledUp(ctx context.Context) (until time.Time, stale []time.Time, err error) {
	err = s.file.view(ctx, func(w *work) error {
		if _, err := w.row(rolledUp, []any{scanTime{&until}}); err != nil {
			return err
		}
		stale, err = all(w, staleHours, func(scan scan) (hour time.Time, err error) {
			err = scan(scanTime{&hour})
			return hour, err
		})
		return err
	})
	return until, stale, err
}

// Oldest implements ads.Reports.
func (s adStore) Oldest(ctx context.Context) (time.Time, error) {
	return read(ctx, s.file, func(w *work) (at time.Time, err error) {
		_, err = w.row(oldestRecording, []any{scanTime{&at}})
		return at, err
	})
}

// Report implements ads.Reports.
func (s adStore) Report(ctx context.Context, r ads.ReportRequest) ([]ads.ReportRow, error) {
	return read(ctx, s.file, func(w *work) ([]ads.ReportRow, error) {
		return all(w, adReport, func(scan scan) (row ads.ReportRow, err error) {
			err = scan(&row.Key, &row.Currency, &row.Impressions, &row.Clicks, &row.Invalid, &row.Spend, &row.Refunded, &row.Conversions)
			if err == nil {
				row.Key, err = reportKey(r.By, row.Key)
			}
			return row, err
		}, string(r.By), moment(r.From), moment(r.To), orNull(r.Campaign.ID))
	})
}

// reportKey decodes a row's key from its column.
func reportKey(by ads.Dimension, column string) (string, error) {
	switch by {
	case ads.PerHour, ads.PerDay:
		hour, err := strconv.ParseInt(column, 10, 64)
		return ads.HourKey(momentOf(hour)), err
	case ads.PerCampaign:
		raw, err := hexID(column)
		return ads.CampaignID{ID: raw}.String(), err
	case ads.PerUnit:
		raw, err := hexID(column)
		return ads.UnitID{ID: raw}.String(), err
	default:
		return column, nil
	}
}

func hexID(text string) (id.ID, error) {
	raw, err := hex.DecodeString(text)
	if err != nil {
		return id.ID{}, err
	}
	return id.FromBytes(raw)
}
