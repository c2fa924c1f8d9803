// Package batch lets concurrent calls share a read.
package batch

import (
	"context"
	"fmt"
	"sync"
)

// Reader reads values by key. A call that comes while few reads are running starts one. Calls that
// come while enough are running share the next, as writers share a commit in databases with group
// commit. So no call waits for a timer, no answer is older than its call, and the busier a server
// is, the fewer reads it needs for each call. A Reader is safe for concurrent use.
type Reader[K comparable, V any] struct {
	read         func(ctx context.Context, keys []K) (map[K]V, error)
	enough, most int

	mu      sync.Mutex
	next    *group[K, V] // has not begun; nil: none
	running int
}

// group is a read that calls share.
type group[K comparable, V any] struct {
	keys  []K // some more than once
	done  chan struct{}
	found map[K]V
	err   error
}

// NewReader returns a Reader. Calls wait while enough reads are running (1: all reads come one
// after another), but no more than most (0: unlimited): the read of as many calls starts in any
// case. The context of a read has the values of one of its calls, and does not end with any of
// them. read sets its own deadline.
func NewReader[K comparable, V any](enough, most int, read func(ctx context.Context, keys []K) (map[K]V, error)) *Reader[K, V] {
	return &Reader[K, V]{read: read, enough: enough, most: most}
}

// Read reads the value of a key, which may be missing. All calls that share the read share the
// value, so it must not be changed. The error is that of the read, or of ctx.
func (r *Reader[K, V]) Read(ctx context.Context, key K) (value V, ok bool, err error) {
	g := r.join(ctx, key)
	select {
	case <-g.done:
		value, ok = g.found[key]
		return value, ok, g.err
	case <-ctx.Done():
		return value, false, ctx.Err()
	}
}

// join adds a key to the next read, and starts that if not enough are running or if it is full.
func (r *Reader[K, V]) join(ctx context.Context, key K) *group[K, V] {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.next == nil {
		r.next = &group[K, V]{done: make(chan struct{})}
	}
	g := r.next
	g.keys = append(g.keys, key)
	ctx = context.WithoutCancel(ctx)
	switch {
	case r.running < r.enough:
		r.running++
		r.next = nil
		go r.run(ctx, g)
	case len(g.keys) == r.most:
		r.next = nil
		go r.finish(ctx, g)
	}
	return g
}

// run reads for a group, and then until no call waits.
func (r *Reader[K, V]) run(ctx context.Context, g *group[K, V]) {
	for g != nil {
		r.finish(ctx, g)
		r.mu.Lock()
		g, r.next = r.next, nil
		if g == nil {
			r.running--
		}
		r.mu.Unlock()
	}
}

// finish reads for a group. It converts a panic to an error: no caller recovers it here, so it would
// end the process.
func (r *Reader[K, V]) finish(ctx context.Context, g *group[K, V]) {
	defer close(g.done)
	defer func() {
		if p := recover(); p != nil {
			g.err = fmt.Errorf("shared read: panic: %v", p)
		}
	}()
	g.found, g.err = r.read(ctx, g.keys)
}
