package adserver

import (
	"context"
	"errors"
	"sync"
	"time"

	"plaza/ads"
)

const (
	// zoneLife is how long a server uses a zone that it has read before it reads it again.
	zoneLife = time.Second
	// generationUnits limits the units in one generation of cached zones, approximately; they take
	// about 100 MB.
	generationUnits = 100_000
)

// zoneCache caches zones for a moment. Callers share the zones that it returns, and must not change
// them.
type zoneCache struct {
	store ads.Zones
	now   func() time.Time

	mu         sync.Mutex
	young, old map[ads.ZoneID]*zoneRead // two generations, so that unused zones are dropped
	turned     time.Time                // when young was last emptied
	units      int                      // in young
}

// zoneRead is the read of a zone, under way or complete.
type zoneRead struct {
	at   time.Time // when the read began
	done chan struct{}
	zone *ads.Zone // the result, valid once done is closed
	err  error
}

func newZoneCache(store ads.Zones, now func() time.Time) *zoneCache {
	return &zoneCache{store: store, now: now}
}

// read returns the result of Zones.Zone as of at most zoneLife ago. Concurrent callers share one
// read.
func (c *zoneCache) read(ctx context.Context, id ads.ZoneID) (*ads.Zone, error) {
	for {
		r, mine := c.claim(id)
		if mine {
			return c.fetch(ctx, id, r)
		}
		select {
		case <-r.done:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if !errors.Is(r.err, context.Canceled) && !errors.Is(r.err, context.DeadlineExceeded) {
			return r.zone, r.err
		} // the caller that was reading was canceled: try again
	}
}

// fetch reads a zone on behalf of all waiting callers. It always completes r, even if the store
// panics.
func (c *zoneCache) fetch(ctx context.Context, id ads.ZoneID, r *zoneRead) (*ads.Zone, error) {
	r.err = context.Canceled // if the store panics, another caller must read
	defer func() { c.keep(id, r); close(r.done) }()
	r.zone, r.err = c.store.Zone(ctx, id)
	return r.zone, r.err
}

// claim returns the cached or running read of a zone. If there is none, it starts one: then mine is
// true and the caller must do it.
func (c *zoneCache) claim(id ads.ZoneID) (r *zoneRead, mine bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	if age := now.Sub(c.turned); age < 0 || age >= zoneLife || c.units >= generationUnits {
		c.old, c.young, c.turned, c.units = c.young, map[ads.ZoneID]*zoneRead{}, now, 0
	}
	for _, generation := range []map[ads.ZoneID]*zoneRead{c.young, c.old} {
		if r := generation[id]; r != nil {
			if age := now.Sub(r.at); age >= 0 && age < zoneLife { // a clock may also be set back
				return r, false
			}
		}
	}
	r = &zoneRead{at: now, done: make(chan struct{})}
	c.young[id] = r
	return r, true
}

// keep adds the units of a successful read to the count, and forgets a failed read.
func (c *zoneCache) keep(id ads.ZoneID, r *zoneRead) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case r.err == nil:
		c.units += len(r.zone.Units)
	case c.young[id] == r:
		delete(c.young, id)
	case c.old[id] == r:
		delete(c.old, id)
	}
}

// forget empties the cache, because this server has changed some zones.
func (c *zoneCache) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.young, c.old, c.turned, c.units = nil, nil, time.Time{}, 0
}
