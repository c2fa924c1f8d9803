package adsmodel

import (
	"context"
	"slices"
	"time"

	"plaza/ads"
)

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
