package cache

import (
	"slices"
	"time"

	"plaza/social"
)

// Fill is a read of the store whose result is kept, except for what changes meanwhile. Begin it
// before the read, add what was read, and end it.
type Fill[K comparable, V any] struct {
	cache   *Cache[K, V]
	began   time.Time
	changes []*social.Change // guarded by cache.mu
	found   map[K]V
}

// Begin begins a fill.
func (c *Cache[K, V]) Begin() *Fill[K, V] {
	f := &Fill[K, V]{cache: c, began: time.Now(), found: map[K]V{}}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fills[f] = struct{}{}
	return f
}

// Add adds a value that was read.
func (f *Fill[K, V]) Add(key K, value V) { f.found[key] = value }

// End keeps what was added, except while the store does not know what changes.
func (f *Fill[K, V]) End() {
	c := f.cache
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.fills, f)
	if c.position == nil {
		return
	}
	for key, value := range f.found {
		if !slices.ContainsFunc(f.changes, func(change *social.Change) bool { return c.affects(change, key) }) {
			c.entries.Set(key, entry[V]{value: value, readAt: f.began})
		}
	}
}

// affects reports whether a change affects the value of a key.
func (c *Cache[K, V]) affects(change *social.Change, key K) bool {
	return change.All || slices.Contains(c.config.Named(change), key) || c.config.IsAround(change, key)
}
