package adserver

import (
	"context"
	"slices"
	"sync"
	"time"

	"plaza/ads"
	"plaza/id"
)

// counter counts traffic in memory, so that a choice does not need a write for it.
type counter struct {
	store ads.Traffics
	now   func() time.Time

	flushing sync.Mutex // flushes run one after the other, so that stored counts never go back

	mu     sync.Mutex
	counts map[counted]*count
}

// counted identifies what is counted together.
type counted struct {
	zone ads.ZoneID
	hour time.Time
}

// count is a Traffic that may differ from the stored one.
type count struct {
	ads.Traffic
	stored bool
}

func newCounter(store ads.Traffics, now func() time.Time) *counter {
	return &counter{store: store, now: now, counts: map[counted]*count{}}
}

// add applies change to the count of the current hour.
func (c *counter) add(zone ads.ZoneID, change func(*ads.Traffic)) {
	hour := c.now().UTC().Truncate(time.Hour)
	c.mu.Lock()
	defer c.mu.Unlock()
	present := c.counts[counted{zone, hour}]
	if present == nil {
		present = &count{Traffic: ads.Traffic{ID: ads.TrafficID{ID: id.New()}, Zone: zone, Hour: hour}}
		c.counts[counted{zone, hour}] = present
	}
	change(&present.Traffic)
	present.stored = false
}

// chosen counts a choice.
func (c *counter) chosen(zone ads.ZoneID, currency ads.Currency, asked, filled int) {
	c.add(zone, func(t *ads.Traffic) {
		t.Currency = currency
		t.Requested += int64(asked)
		t.Filled += int64(filled)
	})
}

// shown counts a valid impression.
func (c *counter) shown(zone ads.ZoneID) { c.add(zone, func(t *ads.Traffic) { t.Shown++ }) }

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

func (c *counter) unstored() []ads.Traffic {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []ads.Traffic
	for _, each := range c.counts {
		if !each.stored {
			all = append(all, each.Traffic)
		}
	}
	return all
}

// forget drops the stored counts of past hours, and marks the others as stored.
func (c *counter) forget(stored []ads.Traffic) {
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
