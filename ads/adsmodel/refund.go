package adsmodel

import (
	"cmp"
	"context"
	"slices"
	"time"

	"plaza/ads"
)

// selected returns the recordings in a selection, oldest first.
func (m *Store) selected(s *ads.Selection) []recording {
	var found []recording
	for once, e := range m.recordings {
		wanted := e.Billed > 0 && m.units[e.Unit].Campaign == s.Campaign && !e.At.Before(s.From) && e.At.Before(s.To) && slices.Contains(s.Kinds(), e.Kind) &&
			(s.Unit.IsZero() || e.Unit == s.Unit) && (s.Choice.IsZero() || e.Choice == s.Choice) &&
			(s.Person.IsZero() || e.Profile == s.Person) && (s.Address.IsZero() || e.Address == s.Address)
		if wanted {
			found = append(found, once)
		}
	}
	slices.SortFunc(found, func(a, b recording) int {
		return cmp.Or(m.recordings[a].At.Compare(m.recordings[b].At), a.choice.Compare(b.choice.ID))
	})
	return found
}

// Charged implements ads.Refunds.
func (m *Store) Charged(ctx context.Context, s ads.Selection) (c ads.Charges, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := m.selected(&s)
	c.Count = len(all)
	for _, once := range slices.Backward(all) {
		e := m.recordings[once]
		c.Amount += e.Billed
		if len(c.Newest) == ads.MaxCharges {
			continue
		}
		charge := ads.Charge{Choice: e.Choice, Kind: e.Kind, Unit: e.Unit, Zone: e.Zone, At: e.At, Amount: e.Billed}
		if e.Kind != ads.Impression {
			charge.Person = e.Profile
		}
		c.Newest = append(c.Newest, charge)
	}
	return c, ctx.Err()
}

// Begin implements ads.Refunds.
func (m *Store) Begin(ctx context.Context, r ads.Refund) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.refunds[r.ID] = r
	return ctx.Err()
}

// Continue implements ads.Refunds.
func (m *Store) Continue(ctx context.Context, refund ads.RefundID, now time.Time) (*ads.Refund, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, ok := m.refunds[refund]
	if !ok {
		return nil, ads.ErrNotFound
	}
	if r.Done {
		return &r, ctx.Err()
	}
	some := m.selected(&r.Selection)
	some = some[:min(len(some), ads.MaxRefunded, r.Most-r.Count)]
	for _, once := range some {
		r.Count++
		r.Amount += m.takeBack(once, ads.Refunded, now)
	}
	r.Done = len(some) == 0 || r.Count >= r.Most
	m.refunds[refund] = r
	return &r, ctx.Err()
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
		case !e.waits():
			if e.Invalid == "" {
				m.takeBack(once, ads.TooMany, r.At)
			}
			converted := recording{once.choice, ads.Conversion}
			if c, ok := m.recordings[converted]; ok && !c.waits() && c.Invalid == "" {
				m.takeBack(converted, ads.TooMany, r.At)
			}
		default:
			e.Invalid, e.due = ads.TooMany, time.Time{}
			m.stale[e.At.UTC().Truncate(time.Hour)] = true
			m.recordings[once] = e
		}
	}
}

// Unfinished implements ads.Refunds.
func (m *Store) Unfinished(ctx context.Context) (open []ads.RefundID, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for id, r := range m.refunds {
		if !r.Done {
			open = append(open, id)
		}
	}
	slices.SortFunc(open, func(a, b ads.RefundID) int { return a.Compare(b.ID) })
	return open, ctx.Err()
}

// ListRefunds implements ads.Refunds.
func (m *Store) ListRefunds(_ context.Context, of ads.CampaignID, p ads.Page) ([]*ads.Refund, error) {
	return list(m, func() map[ads.RefundID]ads.Refund { return m.refunds }, p, func(r *ads.Refund) (string, bool) { return string(r.ID.Bytes()), r.Campaign == of })
}
