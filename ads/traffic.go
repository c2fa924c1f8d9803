package ads

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"plaza/id"
)

// Traffic is what one server has counted of a zone in an hour. If a server has several entries for
// an hour, they add up.
type Traffic struct {
	ID       TrafficID
	Zone     ZoneID
	Currency Currency // the zone's; empty if nothing was requested
	Hour     time.Time
	Asked    int64 // ads that were requested
	Filled   int64 // ads that were chosen
	Shown    int64 // valid impressions that were recorded
}

// TrafficRequest asks for sums of traffic.
type TrafficRequest struct {
	From, To time.Time // whole hours; To is exclusive
	By       Dimension // PerHour, PerDay or PerZone
	Zones    []ZoneID  // none: all
}

// TrafficRow is a row of such sums.
type TrafficRow struct {
	Key      string // see ReportRow
	Currency Currency
	Asked    int64
	Filled   int64
	Shown    int64
}

// Traffics stores what servers have counted.
type Traffics interface {
	// PutTraffic stores counts, and replaces earlier ones with the same ids: repeating the call
	// changes nothing.
	PutTraffic(ctx context.Context, counts []Traffic) error
	// Traffic adds up counts: one row for each key and currency with data, in any order.
	Traffic(ctx context.Context, r TrafficRequest) ([]TrafficRow, error)
}

// counter counts traffic in memory, so that a choice does not need a write for it.
type counter struct {
	store Traffics
	now   func() time.Time

	flushing sync.Mutex // flushes run one after the other, so that stored counts never go back

	mu     sync.Mutex
	counts map[counted]*count
}

// counted identifies what is counted together.
type counted struct {
	zone ZoneID
	hour time.Time
}

// count is a Traffic that may differ from the stored one.
type count struct {
	Traffic
	stored bool
}

func newCounter(store Traffics, now func() time.Time) *counter {
	return &counter{store: store, now: now, counts: map[counted]*count{}}
}

// add applies change to the count of the current hour.
func (c *counter) add(zone ZoneID, change func(*Traffic)) {
	hour := c.now().UTC().Truncate(time.Hour)
	c.mu.Lock()
	defer c.mu.Unlock()
	present := c.counts[counted{zone, hour}]
	if present == nil {
		present = &count{Traffic: Traffic{ID: TrafficID{id.New()}, Zone: zone, Hour: hour}}
		c.counts[counted{zone, hour}] = present
	}
	change(&present.Traffic)
	present.stored = false
}

// chosen counts a choice.
func (c *counter) chosen(zone ZoneID, currency Currency, asked, filled int) {
	c.add(zone, func(t *Traffic) {
		t.Currency = currency
		t.Asked += int64(asked)
		t.Filled += int64(filled)
	})
}

// shown counts a valid impression.
func (c *counter) shown(zone ZoneID) { c.add(zone, func(t *Traffic) { t.Shown++ }) }

// maxPut is the most counts that one call stores.
const maxPut = 1000

// flush stores what was counted since the last time. If that fails, the next flush tries again.
func (c *counter) flush(ctx context.Context) error {
	c.flushing.Lock()
	defer c.flushing.Unlock()
	for some := range slices.Chunk(c.unstored(), maxPut) {
		if err := c.store.PutTraffic(ctx, some); err != nil {
			return err
		}
		c.forget(some)
	}
	return nil
}

func (c *counter) unstored() []Traffic {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []Traffic
	for _, each := range c.counts {
		if !each.stored {
			all = append(all, each.Traffic)
		}
	}
	return all
}

// forget drops the stored counts of past hours, and marks the others as stored.
func (c *counter) forget(stored []Traffic) {
	hour := c.now().UTC().Truncate(time.Hour)
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range stored {
		each := c.counts[counted{stored[i].Zone, stored[i].Hour}]
		each.stored = each.Traffic == stored[i]
	}
	for key, each := range c.counts {
		if each.stored && key.hour.Before(hour) {
			delete(c.counts, key)
		}
	}
}

// FlushTraffic stores what this server has counted since the last time. Call it when no more
// requests can arrive, so that no counts are lost.
func (s *Service) FlushTraffic(ctx context.Context) error { return present(s.counter.flush(ctx)) }

// withTraffic adds to a report how many ads were requested and chosen. Requests have no campaign,
// unit or keyword, so reports by these are unchanged.
func (s *Service) withTraffic(ctx context.Context, r ReportRequest, rows []ReportRow) ([]ReportRow, error) {
	if !r.hasTraffic() {
		return rows, nil
	}
	traffic, err := s.store.Traffic(ctx, TrafficRequest{From: r.From, To: r.To, By: r.By})
	if err != nil {
		return nil, err
	}
	at := map[ReportRow]int{}
	for i := range rows {
		at[ReportRow{Key: rows[i].Key, Currency: rows[i].Currency}] = i
	}
	for _, t := range traffic {
		if t.Asked == 0 {
			continue
		}
		i, ok := at[ReportRow{Key: t.Key, Currency: t.Currency}]
		if !ok {
			i = len(rows)
			rows = append(rows, ReportRow{Key: t.Key, Currency: t.Currency})
		}
		rows[i].Asked, rows[i].Filled = t.Asked, t.Filled
	}
	return rows, nil
}

// hasTraffic reports whether the rows of a report can be related to requests.
func (r *ReportRequest) hasTraffic() bool {
	return r.Campaign.IsZero() && (r.By == PerHour || r.By == PerDay || r.By == PerZone)
}

// sortRows sorts hours and days by time, and other rows by spend, highest first.
func sortRows(by Dimension, rows []ReportRow) {
	slices.SortFunc(rows, func(a, b ReportRow) int {
		if by == PerHour || by == PerDay {
			return cmp.Or(strings.Compare(a.Key, b.Key), cmp.Compare(a.Currency, b.Currency))
		}
		return cmp.Or(cmp.Compare(b.Spend, a.Spend), cmp.Compare(b.Impressions, a.Impressions), strings.Compare(a.Key, b.Key), cmp.Compare(a.Currency, b.Currency))
	})
}
