package adserver

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"plaza/ads"
)

// slowZones answers only when the test lets it.
type slowZones struct {
	reads atomic.Int64
	began chan struct{} // receives an element for each read
	gate  chan error    // a read takes one element, and returns it as its error
	units int           // in each zone
}

func (z *slowZones) Zone(ctx context.Context, id ads.ZoneID) (*ads.Zone, error) {
	z.reads.Add(1)
	z.began <- struct{}{}
	select {
	case err := <-z.gate:
		if err != nil {
			return nil, err
		}
		return &ads.Zone{ID: id, Units: make([]ads.RunningUnit, z.units)}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

type cacheTest struct {
	*zoneCache
	t     *testing.T
	zones *slowZones
	clock atomic.Int64 // milliseconds
}

func newCacheTest(t *testing.T) *cacheTest {
	t.Helper()
	c := &cacheTest{t: t, zones: &slowZones{began: make(chan struct{}, 1000), gate: make(chan error, 1000)}}
	c.clock.Store(1_000_000)
	c.zoneCache = newZoneCache(c.zones, func() time.Time { return time.UnixMilli(c.clock.Load()) })
	return c
}

func zoneOf(n int) ads.ZoneID { return ads.ZoneID{Site: "example.org", Name: fmt.Sprint("zone", n)} }

// reads looks up a zone, and checks how often that asked the store.
func (c *cacheTest) reads(what string, id ads.ZoneID, want int64) {
	c.t.Helper()
	before := c.zones.reads.Load()
	c.zones.gate <- nil
	z, err := c.read(c.t.Context(), id)
	if err != nil || z.ID != id {
		c.t.Fatalf("%s: %v, %v", what, z, err)
	}
	if got := c.zones.reads.Load() - before; got != want {
		c.t.Errorf("%s: the store was asked %d times, want %d", what, got, want)
	}
	if want == 0 {
		<-c.zones.gate
	}
}

func TestZoneIsReadOnceASecond(t *testing.T) {
	c := newCacheTest(t)
	c.reads("at first", zoneOf(1), 1)
	c.reads("another zone", zoneOf(2), 1)
	c.clock.Add(999)
	c.reads("within a second", zoneOf(1), 0)
	c.clock.Add(1)
	c.reads("after a second", zoneOf(1), 1)
	c.clock.Add(600)
	c.reads("a third zone", zoneOf(3), 1)
	c.clock.Add(500) // starts a new generation
	c.reads("the third zone half a second later", zoneOf(3), 0)
	c.clock.Add(-10_000)
	c.reads("when the clock was put back", zoneOf(3), 1)
	c.forget()
	c.reads("after a change", zoneOf(3), 1)
}

func TestUnusedZonesAreForgotten(t *testing.T) {
	c := newCacheTest(t)
	for n := range 1000 {
		c.reads("a zone", zoneOf(n), 1)
		c.clock.Add(100)
	}
	if kept := len(c.young) + len(c.old); kept > 20 {
		t.Errorf("%d zones are remembered; in two seconds there were 20", kept)
	}
}

func TestCacheLimitsUnits(t *testing.T) {
	c := newCacheTest(t)
	c.zones.units = ads.MaxZoneUnits
	const most = 2 * generationUnits / ads.MaxZoneUnits
	for n := range 2 * most {
		c.reads("a large zone", zoneOf(n), 1)
	}
	if kept := len(c.young) + len(c.old); kept > most+2 {
		t.Errorf("%d zones of %d units are remembered, want %d at most", kept, ads.MaxZoneUnits, most)
	}
	c.reads("the last zone", zoneOf(2*most-1), 0)
}

// readers starts n concurrent readers of one zone, and waits until all of them have called read.
func (c *cacheTest) readers(ctx context.Context, n int) (wait func() (good, bad int64)) {
	var group sync.WaitGroup
	var good, bad atomic.Int64
	for range n {
		group.Go(func() {
			if _, err := c.read(ctx, zoneOf(1)); err != nil {
				bad.Add(1)
			} else {
				good.Add(1)
			}
		})
	}
	return func() (int64, int64) { group.Wait(); return good.Load(), bad.Load() }
}

func TestConcurrentReadersShareOneRead(t *testing.T) {
	c := newCacheTest(t)
	wait := c.readers(t.Context(), 64)
	<-c.zones.began
	c.zones.gate <- nil
	if good, bad := wait(); good != 64 || bad != 0 || c.zones.reads.Load() != 1 {
		t.Errorf("%d readers succeeded and %d failed, with %d reads", good, bad, c.zones.reads.Load())
	}
}

func TestFailureIsSharedAndNotCached(t *testing.T) {
	c := newCacheTest(t)
	c.zones.gate <- errors.New("no primary")
	if _, err := c.read(t.Context(), zoneOf(1)); err == nil {
		t.Error("a failure is no error")
	}
	c.reads("after a failure", zoneOf(1), 1)
	c.forget()
	c.zones.gate <- ads.ErrNotFound
	if _, err := c.read(t.Context(), zoneOf(9)); !errors.Is(err, ads.ErrNotFound) {
		t.Errorf("an absent zone is %v", err)
	}
	if len(c.young) > 0 {
		t.Error("an absent zone is remembered")
	}
}

// TestCanceledReaderLetsOthersRead cancels the reader that the others wait for.
func TestCanceledReaderLetsOthersRead(t *testing.T) {
	c := newCacheTest(t)
	leaving, leave := context.WithCancel(t.Context())
	gone := c.readers(leaving, 1)
	<-c.zones.began
	wait := c.readers(t.Context(), 8)
	leave()
	if good, bad := gone(); good != 0 || bad != 1 {
		t.Errorf("the canceled reader: %d succeeded, %d failed; want 0 and 1", good, bad)
	}
	<-c.zones.began
	c.zones.gate <- nil
	if good, bad := wait(); good != 8 || bad != 0 {
		t.Errorf("of the other readers %d succeeded and %d failed", good, bad)
	}
	if n := c.zones.reads.Load(); n != 2 {
		t.Errorf("there were %d reads, want 2", n)
	}
}
