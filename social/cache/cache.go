package cache

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/maypok86/otter/v2"

	"plaza/batch"
	"plaza/social"
)

// Config configures a Cache.
type Config[K comparable, V any] struct {
	Log  social.ChangeLog
	Size int64 // approximately, in bytes
	// Weigh returns how many bytes a value takes besides K and V themselves.
	Weigh func(V) int
	// Named returns the keys that a change names one by one.
	Named func(*social.Change) []K
	// IsAround reports whether a key belongs to one of the users of a change's Around. Such changes
	// are rare: a circle or an account was deleted.
	IsAround func(*social.Change, K) bool
}

// Cache keeps values in memory. Call CatchUp before each use. It is safe for concurrent use, and
// what it returns must not be changed.
type Cache[K comparable, V any] struct {
	config  Config[K, V]
	entries *otter.Cache[K, entry[V]]
	changes *batch.Reader[struct{}, struct{}]

	mu       sync.Mutex
	position social.ChangePosition // nil: unknown, and nothing is in memory
	fills    map[*Fill[K, V]]struct{}
}

type entry[V any] struct {
	value  V
	readAt time.Time
}

const (
	// maxAge is how long a value is used. Plaza's own changes need no such limit: it is for changes
	// that other programs make in the database.
	maxAge = time.Minute
	// overhead is approximately what the key, the value and the cache itself take, in bytes.
	overhead = 320
)

// New makes an empty cache.
func New[K comparable, V any](config Config[K, V]) *Cache[K, V] {
	c := &Cache[K, V]{config: config, fills: map[*Fill[K, V]]struct{}{}}
	c.entries = otter.Must(&otter.Options[K, entry[V]]{
		MaximumWeight: uint64(max(1, config.Size)),
		Weigher:       func(_ K, e entry[V]) uint32 { return uint32(overhead + config.Weigh(e.value)) },
	})
	c.changes = batch.NewReader(1, 0, c.readChanges)
	return c
}

// Bytes returns approximately how much memory the values take.
func (c *Cache[K, V]) Bytes() uint64 { return c.entries.WeightedSize() }

// CatchUp forgets the values that had changed before it was called. Calls at the same time share
// the question to the store, as in the ReadIndex protocol of Raft (Ongaro, "Consensus: Bridging
// Theory and Practice", section 6.4). After that, what Get returns is at least as new as everything
// that was read before. While the store does not know what changes, Get returns nothing.
func (c *Cache[K, V]) CatchUp(ctx context.Context) error {
	_, _, err := c.changes.Read(ctx, struct{}{})
	if errors.Is(err, social.ErrNoChanges) {
		return nil
	}
	return err
}

// Get returns what is in memory under a key.
func (c *Cache[K, V]) Get(key K) (value V, ok bool) {
	e, ok := c.entries.GetIfPresent(key)
	return e.value, ok && time.Since(e.readAt) < maxAge
}

// readChanges asks the store for all who wait, and forgets what has changed.
func (c *Cache[K, V]) readChanges(ctx context.Context, _ []struct{}) (map[struct{}]struct{}, error) {
	c.mu.Lock()
	since := c.position
	c.mu.Unlock()
	changes, position, err := c.config.Log.Changes(ctx, since)
	c.apply(changes, position, err)
	return nil, err
}

// apply applies the answer of the store. Without one, all values may be out of date.
func (c *Cache[K, V]) apply(changes []social.Change, position social.ChangePosition, err error) {
	if err == nil && len(changes) == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil && c.position == nil {
		return
	}
	if err != nil {
		changes, position = []social.Change{{All: true}}, nil
	}
	for i := range changes {
		c.forget(&changes[i])
		for f := range c.fills {
			f.changes = append(f.changes, &changes[i])
		}
	}
	c.position = position // last: after a panic, the same changes are read again
}

func (c *Cache[K, V]) forget(change *social.Change) {
	if change.All {
		c.entries.InvalidateAll()
		return
	}
	for _, key := range c.config.Named(change) {
		c.entries.Invalidate(key)
	}
	if len(change.Around) == 0 {
		return
	}
	for key := range c.entries.Keys() {
		if c.config.IsAround(change, key) {
			c.entries.Invalidate(key)
		}
	}
}
