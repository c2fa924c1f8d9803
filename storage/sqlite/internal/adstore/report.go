package adstore

import (
	"context"
	"encoding/hex"
	"strconv"
	"time"

	"plaza/ads"
	"plaza/id"
	"plaza/storage/sqlite/internal/sqldb"
)

const tallied = `sum(r.kind = 'IMPRESSION' AND r.invalid = ''), sum(r.kind = 'CLICK' AND r.invalid = ''), sum(r.invalid <> ''), sum(r.billed), sum(r.refunded),
	sum(r.kind = 'CONVERSION' AND r.invalid = '')`

var (
	deleteTallies = sqldb.Define(`DELETE FROM ad_tallies WHERE hour >= ? AND hour < ?`)
	tallyUnits    = sqldb.Define(`INSERT INTO ad_tallies
		SELECT r.at / 3600000000 * 3600000000, r.campaign, r.unit, r.zone, '', u.bid_currency, ` + tallied + `
		FROM ad_recordings r CROSS JOIN ad_units u ON u.id = r.unit WHERE r.at >= ? AND r.at < ? AND r.due IS NULL GROUP BY 1, 2, 3, 4, 6`)
	tallyKeywords = sqldb.Define(`INSERT INTO ad_tallies
		SELECT r.at / 3600000000 * 3600000000, r.campaign, x'', '', k.value, u.bid_currency, ` + tallied + `
		FROM ad_recordings r CROSS JOIN json_each(r.keywords) k CROSS JOIN ad_units u ON u.id = r.unit
		WHERE r.at >= ? AND r.at < ? AND r.due IS NULL GROUP BY 1, 2, 5, 6`)
	noLongerStale   = sqldb.Define(`DELETE FROM ad_stale_hours WHERE hour >= ? AND hour < ?`)
	staleHours      = sqldb.Define(`SELECT hour FROM ad_stale_hours WHERE hour > 0`)
	putRolledUp     = sqldb.Define(`INSERT INTO ad_rollups (name, until) VALUES ('reports', ?) ON CONFLICT DO UPDATE SET until = max(until, excluded.until)`)
	rolledUp        = sqldb.Define(`SELECT until FROM ad_rollups WHERE name = 'reports'`)
	oldestRecording = sqldb.Define(`SELECT at FROM ad_recordings WHERE at > 0 ORDER BY at LIMIT 1`)
	adReport        = sqldb.Define(`SELECT CASE ?1 WHEN 'HOUR' THEN hour WHEN 'DAY' THEN hour / 86400000000 * 86400000000
		WHEN 'CAMPAIGN' THEN hex(campaign) WHEN 'UNIT' THEN hex(unit) WHEN 'ZONE' THEN zone ELSE keyword END,
		currency, sum(impressions), sum(clicks), sum(invalid), sum(spend), sum(refunded), sum(conversions)
		FROM ad_tallies WHERE hour >= ?2 AND hour < ?3 AND (?4 IS NULL OR campaign = ?4) AND (keyword <> '') = (?1 = 'KEYWORD')
		GROUP BY 1, 2`)
	staleHour = sqldb.Define(`INSERT INTO ad_stale_hours (hour) VALUES (?) ON CONFLICT DO NOTHING`)
)

// RollUp implements ads.Reports.
func (s *Store) RollUp(ctx context.Context, from, to, until time.Time) error {
	return s.db.Update(ctx, func(tx *sqldb.Tx) error {
		for _, st := range []*sqldb.Statement{deleteTallies, tallyUnits, tallyKeywords, noLongerStale} {
			if _, err := tx.Exec(st, sqldb.Moment(from), sqldb.Moment(to)); err != nil {
				return err
			}
		}
		_, err := tx.Exec(putRolledUp, sqldb.Moment(until))
		return err
	})
}

// RolledUp implements ads.Reports.
func (s *Store) RolledUp(ctx context.Context) (until time.Time, stale []time.Time, err error) {
	err = s.db.View(ctx, func(tx sqldb.Reader) error {
		if _, err := tx.Row(rolledUp, []any{sqldb.IntoTime(&until)}); err != nil {
			return err
		}
		stale, err = sqldb.All(tx, staleHours, func(scan sqldb.Scan) (hour time.Time, err error) {
			err = scan(sqldb.IntoTime(&hour))
			return hour, err
		})
		return err
	})
	return until, stale, err
}

// Oldest implements ads.Reports.
func (s *Store) Oldest(ctx context.Context) (time.Time, error) {
	return sqldb.Read(ctx, s.db, func(tx sqldb.Reader) (at time.Time, err error) {
		_, err = tx.Row(oldestRecording, []any{sqldb.IntoTime(&at)})
		return at, err
	})
}

// Report implements ads.Reports.
func (s *Store) Report(ctx context.Context, r ads.ReportRequest) ([]ads.ReportRow, error) {
	return sqldb.Read(ctx, s.db, func(tx sqldb.Reader) ([]ads.ReportRow, error) {
		return sqldb.All(tx, adReport, func(scan sqldb.Scan) (row ads.ReportRow, err error) {
			err = scan(&row.Key, &row.Currency, &row.Impressions, &row.Clicks, &row.Invalid, &row.Spend, &row.Refunded, &row.Conversions)
			if err == nil {
				row.Key, err = reportKey(r.By, row.Key)
			}
			return row, err
		}, string(r.By), sqldb.Moment(r.From), sqldb.Moment(r.To), sqldb.OrNull(r.Campaign.ID))
	})
}

// reportKey decodes a row's key from its column.
func reportKey(by ads.Dimension, column string) (string, error) {
	switch by {
	case ads.PerHour, ads.PerDay:
		hour, err := strconv.ParseInt(column, 10, 64)
		return ads.HourKey(sqldb.MomentOf(hour)), err
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
