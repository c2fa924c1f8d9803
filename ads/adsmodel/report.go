package adsmodel

import (
	"context"
	"maps"
	"slices"
	"time"

	"plaza/ads"
)

// RollUp implements ads.Reports.
func (m *Store) RollUp(ctx context.Context, from, to, until time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	within := func(at time.Time) bool { return !at.Before(from) && at.Before(to) }
	m.tallies = slices.DeleteFunc(m.tallies, func(t tally) bool { return within(t.At) })
	for _, e := range m.recordings {
		if !within(e.At) || e.waits() {
			continue
		}
		u := m.units[e.Unit]
		for _, keyword := range append([]string{""}, e.Keywords...) {
			m.tallies = append(m.tallies, tally{e, u.Campaign, u.Bid.Currency, keyword})
		}
	}
	maps.DeleteFunc(m.stale, func(hour time.Time, _ bool) bool { return within(hour) })
	if until.After(m.rolledUp) {
		m.rolledUp = until
	}
	return ctx.Err()
}

// RolledUp implements ads.Reports.
func (m *Store) RolledUp(ctx context.Context) (until time.Time, stale []time.Time, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.rolledUp, slices.Collect(maps.Keys(m.stale)), ctx.Err()
}

// Oldest implements ads.Reports.
func (m *Store) Oldest(ctx context.Context) (oldest time.Time, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, e := range m.recordings {
		if oldest.IsZero() || e.At.Before(oldest) {
			oldest = e.At
		}
	}
	return oldest, ctx.Err()
}

// Report implements ads.Reports.
func (m *Store) Report(ctx context.Context, r ads.ReportRequest) ([]ads.ReportRow, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	rows := map[[2]string]*ads.ReportRow{}
	for _, t := range m.tallies {
		other := !r.Campaign.IsZero() && t.campaign != r.Campaign
		if other || t.At.Before(r.From) || !t.At.Before(r.To) || (t.keyword != "") != (r.By == ads.PerKeyword) {
			continue
		}
		at := [2]string{t.key(r.By), string(t.currency)}
		if rows[at] == nil {
			rows[at] = &ads.ReportRow{Key: at[0], Currency: t.currency}
		}
		rows[at].Spend += t.Billed
		rows[at].Refunded += t.refunded
		switch {
		case t.Invalid != "":
			rows[at].Invalid++
		case t.Kind == ads.Click:
			rows[at].Clicks++
		case t.Kind == ads.Conversion:
			rows[at].Conversions++
		default:
			rows[at].Impressions++
		}
	}
	var list []ads.ReportRow
	for _, row := range rows {
		list = append(list, *row)
	}
	return list, ctx.Err()
}

func (t *tally) key(by ads.Dimension) string {
	switch by {
	case ads.PerHour, ads.PerDay:
		return timeKey(by, t.At)
	case ads.PerCampaign:
		return t.campaign.String()
	case ads.PerUnit:
		return t.Unit.String()
	case ads.PerZone:
		return t.Zone.String()
	default:
		return t.keyword
	}
}

func timeKey(by ads.Dimension, at time.Time) string {
	if by == ads.PerDay {
		return ads.HourKey(at.UTC().Truncate(24 * time.Hour))
	}
	return ads.HourKey(at.Truncate(time.Hour))
}
