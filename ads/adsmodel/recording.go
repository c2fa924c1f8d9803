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

// Count implements ads.Recorder.
func (m *Store) Count(ctx context.Context, keys []ads.RecordingKey, now time.Time) (receipts []ads.Receipt, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for _, kind := range ads.Kinds() {
		for _, once := range m.waiting(keys, kind) {
			if e := m.recordings[once]; e.waits() && m.countOne(once, &e, now) {
				receipts = append(receipts, ads.Receipt{RecordingKey: e.Key(), Campaign: m.units[e.Unit].Campaign, Zone: e.Zone, Invalid: e.Invalid, Billed: e.Billed})
			}
		}
	}
	return receipts, nil
}

// waiting returns the waiting recordings of a kind, of the choices in keys, oldest first.
func (m *Store) waiting(keys []ads.RecordingKey, kind ads.Kind) (found []recording) {
	choices := map[ads.ChoiceID]bool{}
	for _, k := range keys {
		once := recording{k.Choice, kind}
		if e, ok := m.recordings[once]; ok && e.waits() && !choices[k.Choice] {
			choices[k.Choice] = true
			found = append(found, once)
		}
	}
	slices.SortFunc(found, func(a, b recording) int { return m.recordings[a].At.Compare(m.recordings[b].At) })
	return found
}

// countOne counts a recording, unless it waits for another one.
func (m *Store) countOne(once recording, e *event, now time.Time) bool {
	u, ok := m.units[e.Unit]
	if !ok {
		delete(m.recordings, once)
		return false
	}
	r := &e.Recording
	evidence := m.evidence(r)
	verdict, waits := r.Judge(evidence, now)
	if waits {
		e.due = r.LookAgain(now)
		m.recordings[once] = *e
		return false
	}
	e.Invalid, e.due = verdict, time.Time{}
	switch {
	case e.Invalid == "":
		e.Billed, e.day = m.charge(u.Campaign, r)
		m.count(u.ID, r.Kind, 1)
		if p := m.profiles[r.Profile]; p != nil && r.Kind == ads.Impression {
			p.Confirm(r.Choice)
		}
	case e.Invalid == ads.TooMany && evidence.Burst():
		m.takeBackBurst(r)
	}
	if r.IsLate(now) {
		m.stale[r.At.UTC().Truncate(time.Hour)] = true
	}
	m.recordings[once] = *e
	return true
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

func (m *Store) evidence(r *ads.Recording) ads.Evidence {
	before, ok := m.recordings[recording{r.Choice, r.Kind.Before()}]
	ok = ok && !before.waits()
	e := ads.Evidence{Arrived: ok, Valid: ok && before.Invalid == "", At: before.At}
	if r.Kind != ads.Click {
		return e
	}
	for _, other := range m.recordings {
		if other.Kind != ads.Click || other.Choice == r.Choice || !isBefore(&other, r) {
			continue
		}
		if !r.Profile.IsZero() && other.Profile == r.Profile {
			e.PersonClicks++
		}
		if !r.Address.IsZero() && other.Address == r.Address {
			e.AddressClicks++
		}
	}
	return e
}

// isBefore reports whether a click counts for the rate of another one.
func isBefore(e *event, r *ads.Recording) bool {
	return e.At.After(r.At.Add(-ads.ClickWindow)) && (e.At.Before(r.At) || e.At.Equal(r.At) && !e.waits())
}

func (m *Store) takeBack(once recording, why ads.Invalid, now time.Time) ads.Micros {
	e := m.recordings[once]
	campaign := m.campaigns[m.units[e.Unit].Campaign]
	ledger := m.ledgers[campaign.ID]
	campaign.Refund(&ledger, e.Billed, e.day, now)
	m.ledgers[campaign.ID] = ledger
	m.count(e.Unit, e.Kind, -1)
	m.stale[e.At.UTC().Truncate(time.Hour)] = true
	e.refunded, e.Billed, e.Invalid = e.Billed, 0, why
	m.recordings[once] = e
	return e.refunded
}

// takeBackBurst refunds a person's clicks shortly before one that is TooMany, and the conversions
// of these clicks.
func (m *Store) takeBackBurst(r *ads.Recording) {
	for once, e := range m.recordings {
		switch {
		case e.Kind != ads.Click || e.Profile != r.Profile || e.Choice == r.Choice || !isBefore(&e, r):
		case !e.waits() && e.Invalid == "":
			m.takeBack(once, ads.TooMany, r.At)
			converted := recording{once.choice, ads.Conversion}
			if c, ok := m.recordings[converted]; ok && !c.waits() && c.Invalid == "" {
				m.takeBack(converted, ads.TooMany, r.At)
			}
		case e.waits():
			e.Invalid, e.due = ads.TooMany, time.Time{}
			m.stale[e.At.UTC().Truncate(time.Hour)] = true
			m.recordings[once] = e
		}
	}
}
