package adsmodel

import (
	"context"
	"maps"
	"slices"

	"plaza/ads"
)

// PutTraffic implements ads.Traffics.
func (m *Store) PutTraffic(ctx context.Context, counts []ads.Traffic) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, t := range counts {
		m.traffic[t.ID] = t
	}
	return ctx.Err()
}

// Traffic implements ads.Traffics.
func (m *Store) Traffic(ctx context.Context, r ads.TrafficRequest) ([]ads.TrafficRow, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	rows := map[ads.TrafficRow]*ads.TrafficRow{}
	for t := range maps.Values(m.traffic) {
		if t.Hour.Before(r.From) || !t.Hour.Before(r.To) || (len(r.Zones) > 0 && !slices.Contains(r.Zones, t.Zone)) {
			continue
		}
		key := ads.TrafficRow{Key: t.Zone.String(), Currency: t.Currency}
		if r.By != ads.PerZone {
			key.Key = timeKey(r.By, t.Hour)
		}
		if rows[key] == nil {
			rows[key] = &ads.TrafficRow{Key: key.Key, Currency: key.Currency}
		}
		rows[key].Requested += t.Requested
		rows[key].Filled += t.Filled
		rows[key].Shown += t.Shown
	}
	var list []ads.TrafficRow
	for _, row := range rows {
		list = append(list, *row)
	}
	return list, ctx.Err()
}
