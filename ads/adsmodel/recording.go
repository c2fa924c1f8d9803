package adsmodel

import (
	"context"
	"slices"
	"time"

	"plaza/ads"
)

// Record implements ads.Recorder.
func (m *Store) Record(ctx context.Context, r ads.Recording) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	once := recording{r.Choice, r.Kind}
	if err := ctx.Err(); err != nil || has(m.recordings, once) {
		return false, err
	}
	m.recordings[once] = event{Recording: r, due: r.At}
	return true, nil
}

// Waiting implements ads.Recorder.
func (m *Store) Waiting(ctx context.Context, due time.Time) (list []ads.Waiting, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []event
	for _, e := range m.recordings {
		if e.waits() && !e.due.After(due) {
			all = append(all, e)
		}
	}
	slices.SortFunc(all, func(a, b event) int { return a.due.Compare(b.due) })
	for _, e := range all[:min(len(all), ads.MaxCounted)] {
		list = append(list, ads.Waiting{RecordingKey: e.Key(), Campaign: e.Campaign})
	}
	return list, ctx.Err()
}

// isBefore reports whether a click counts for the rate of another one.
func isBefore(e *event, r *ads.Recording) bool {
	return e.At.After(r.At.Add(-ads.ClickWindow)) && (e.At.Before(r.At) || e.At.Equal(r.At) && !e.waits())
}

func (m *Store) count(unit ads.UnitID, kind ads.Kind, by int64) {
	u := m.units[unit]
	switch kind {
	case ads.Conversion:
		u.Conversions += by
	case ads.Click:
		u.Clicks += by
	default:
		u.Impressions += by
	}
	m.units[unit] = u
}
