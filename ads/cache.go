package ads

import (
	"context"
	"errors"
	"sync"
	"time"
)

const (
	// zoneLife is how long a server goes by what it has read of a zone.
	zoneLife = time.Second
	// generationUnits is how many units a generation of remembered zones has, about: some 100 MB.
	generationUnits = 100_000
)

// zoneCache remembers zones for a moment. What it answers is shared: nobody may change it.
type zoneCache struct {
	store Zones
	now   func() time.Time

	mu         sync.Mutex
	young, old map[ZoneID]*zoneRead // two generations, so that what nobody asks for goes
	turned     time.Time            // when young was empty
	units      int                  // in young
}

// zoneRead is a zone that is being read, or was.
type zoneRead struct {
	at   time.Time // when that began
	done chan struct{}
	zone *Zone // these, once done is closed
	err  error
}

func newZoneCache(store Zones, now func() time.Time) *zoneCache {
	return &zoneCache{store: store, now: now}
}

// read is Zones.Zone as it was at most zoneLife ago. Those who ask at the same time share a read.
func (c *zoneCache) read(ctx context.Context, id ZoneID) (*Zone, error) {
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
		} // else whoever was reading has gone: somebody else must
	}
}

// fetch reads a zone for all who wait for it, whatever happens.
func (c *zoneCache) fetch(ctx context.Context, id ZoneID, r *zoneRead) (*Zone, error) {
	r.err = context.Canceled // should the store panic, somebody else must read
	defer func() { c.keep(id, r); close(r.done) }()
	r.zone, r.err = c.store.Zone(ctx, id)
	return r.zone, r.err
}

// claim finds what is known of a zone, or is being read; where nothing is, the caller has to read it.
func (c *zoneCache) claim(id ZoneID) (r *zoneRead, mine bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	if age := now.Sub(c.turned); age < 0 || age >= zoneLife || c.units >= generationUnits {
		c.old, c.young, c.turned, c.units = c.young, map[ZoneID]*zoneRead{}, now, 0
	}
	for _, generation := range []map[ZoneID]*zoneRead{c.young, c.old} {
		if r := generation[id]; r != nil {
			if age := now.Sub(r.at); age >= 0 && age < zoneLife { // clocks are put back, too
				return r, false
			}
		}
	}
	r = &zoneRead{at: now, done: make(chan struct{})}
	c.young[id] = r
	return r, true
}

// keep counts what was read, and forgets what was not.
func (c *zoneCache) keep(id ZoneID, r *zoneRead) {
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

// forget has all zones read anew: this server has changed some.
func (c *zoneCache) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.young, c.old, c.turned, c.units = nil, nil, time.Time{}, 0
}
