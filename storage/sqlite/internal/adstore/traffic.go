package adstore

import (
	"context"

	"plaza/ads"
	"plaza/storage/sqlite/internal/sqldb"
)

const trafficSums = `SELECT CASE ?1 WHEN 'HOUR' THEN hour WHEN 'DAY' THEN hour / 86400000000 * 86400000000 ELSE zone END,
	currency, sum(asked), sum(filled), sum(shown) FROM ad_traffic `

var (
	putTraffic = sqldb.Define(`INSERT INTO ad_traffic (id, zone, currency, hour, asked, filled, shown) VALUES (?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT DO UPDATE SET currency = excluded.currency, asked = excluded.asked, filled = excluded.filled, shown = excluded.shown`)
	traffic        = sqldb.Define(trafficSums + `WHERE hour >= ?2 AND hour < ?3 GROUP BY 1, 2`)
	trafficOfZones = sqldb.Define(trafficSums + `INDEXED BY ad_traffic_by_zone WHERE zone IN (SELECT value FROM json_each(?4)) AND hour >= ?2 AND hour < ?3 GROUP BY 1, 2`)
)

// PutTraffic implements ads.Traffics.
func (s *Store) PutTraffic(ctx context.Context, counts []ads.Traffic) error {
	return s.db.Update(ctx, func(tx *sqldb.Tx) error {
		for _, t := range counts {
			if _, err := tx.Exec(putTraffic, t.ID.Bytes(), t.Zone.String(), string(t.Currency), sqldb.Moment(t.Hour), t.Requested, t.Filled, t.Shown); err != nil {
				return err
			}
		}
		return nil
	})
}

// Traffic implements ads.Traffics.
func (s *Store) Traffic(ctx context.Context, r ads.TrafficRequest) ([]ads.TrafficRow, error) {
	st, args := traffic, []any{string(r.By), sqldb.Moment(r.From), sqldb.Moment(r.To)}
	if len(r.Zones) > 0 {
		keys := make([]string, len(r.Zones))
		for i, zone := range r.Zones {
			keys[i] = zone.String()
		}
		st, args = trafficOfZones, append(args, asJSON(keys))
	}
	return sqldb.Read(ctx, s.db, func(tx sqldb.Reader) ([]ads.TrafficRow, error) {
		return sqldb.All(tx, st, func(scan sqldb.Scan) (row ads.TrafficRow, err error) {
			err = scan(&row.Key, &row.Currency, &row.Requested, &row.Filled, &row.Shown)
			if err == nil {
				row.Key, err = reportKey(r.By, row.Key)
			}
			return row, err
		}, args...)
	})
}
