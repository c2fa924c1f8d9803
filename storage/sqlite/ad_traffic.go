package sqlite

import (
	"context"

	"plaza/ads"
)

const trafficSums = `SELECT CASE ?1 WHEN 'HOUR' THEN hour WHEN 'DAY' THEN hour / 86400000000 * 86400000000 ELSE zone END,
	currency, sum(asked), sum(filled), sum(shown) FROM ad_traffic `

var (
	putTraffic = define(`INSERT INTO ad_traffic (id, zone, currency, hour, asked, filled, shown) VALUES (?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT DO UPDATE SET currency = excluded.currency, asked = excluded.asked, filled = excluded.filled, shown = excluded.shown`)
	traffic        = define(trafficSums + `WHERE hour >= ?2 AND hour < ?3 GROUP BY 1, 2`)
	trafficOfZones = define(trafficSums + `INDEXED BY ad_traffic_by_zone WHERE zone IN (SELECT value FROM json_each(?4)) AND hour >= ?2 AND hour < ?3 GROUP BY 1, 2`)
)

// PutTraffic implements ads.Traffics.
func (s adStore) PutTraffic(ctx context.Context, counts []ads.Traffic) error {
	return s.file.update(ctx, func(w *work) error {
		for _, t := range counts {
			if _, err := w.exec(putTraffic, t.ID.Bytes(), t.Zone.String(), string(t.Currency), moment(t.Hour), t.Asked, t.Filled, t.Shown); err != nil {
				return err
			}
		}
		return nil
	})
}

// Traffic implements ads.Traffics.
func (s adStore) Traffic(ctx context.Context, r ads.TrafficRequest) ([]ads.TrafficRow, error) {
	st, args := traffic, []any{string(r.By), moment(r.From), moment(r.To)}
	if len(r.Zones) > 0 {
		keys := make([]string, len(r.Zones))
		for i, zone := range r.Zones {
			keys[i] = zone.String()
		}
		st, args = trafficOfZones, append(args, asJSON(keys))
	}
	return read(ctx, s.file, func(w *work) ([]ads.TrafficRow, error) {
		return all(w, st, func(scan scan) (row ads.TrafficRow, err error) {
			err = scan(&row.Key, &row.Currency, &row.Asked, &row.Filled, &row.Shown)
			if err == nil {
				row.Key, err = reportKey(r.By, row.Key)
			}
			return row, err
		}, args...)
	})
}
