// Package batch is for reads of several keys: concurrent calls share them.
package batch

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// Reader reads values by key. A call that comes while few reads are running starts one. Calls that
// come while enough are running share the next, as writers share a commit in databases with group
// commit. So no call waits for a timer, no answer is older than its call, and the busier a server
// is, the fewer reads it needs for each call. A Reader is safe for concurrent use.
type Reader[K comparable, V any] struct {
	read           func(ctx context.Context, keys []K) (map[K]V, error)
	parallel, full int

	mu      sync.Mutex
	next    *group[K, V] // has not begun; nil: none
	running int
}

// group is a read that calls share.
type group[K comparable, V any] struct {
	ctx   context.Context //nolint:containedctx // of the first call, but does not end with it
	keys  []K             // some more than once
	done  chan struct{}
	found map[K]V
	err   error
}

// NewReader returns a Reader. Calls wait while as many reads are running as parallel says (1: reads
// come one after another). When as many calls wait as full says (0: unlimited), their read starts in
// any case. The context of a read has the values of its first call, and does not end with it: read
// sets its own deadline.
func NewReader[K comparable, V any](parallel, full int, read func(ctx context.Context, keys []K) (map[K]V, error)) *Reader[K, V] {
	return &Reader[K, V]{read: read, parallel: parallel, full: full}
}

// Read reads the value of a key, which may be missing. All calls that share the read share the
// value, so it must not be changed. The error is that of the read, or of ctx.
func (r *Reader[K, V]) Read(ctx context.Context, key K) (value V, ok bool, err error) {
	if err := ctx.Err(); err != nil {
		return value, false, err
	}
	g := r.join(ctx, key)
	select {
	case <-g.done:
		value, ok = g.found[key]
		return value, ok, g.err
	case <-ctx.Done():
		return value, false, ctx.Err()
	}
}

// join adds a key to the next read.
func (r *Reader[K, V]) join(ctx context.Context, key K) *group[K, V] {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.next == nil {
		r.next = &group[K, V]{ctx: context.WithoutCancel(ctx), done: make(chan struct{})}
	}
	g := r.next
	g.keys = append(g.keys, key)
	r.start()
	return g
}

// start begins the next read, if calls wait for one and need not wait any longer.
func (r *Reader[K, V]) start() {
	if g := r.next; g != nil && (r.running < r.parallel || len(g.keys) == r.full) {
		r.next = nil
		r.running++
		go r.run(g)
	}
}

// errNotRead is the error of a read that ended its goroutine.
var errNotRead = errors.New("shared read: it has not returned")

// run reads for a group. It converts a panic to an error: no caller recovers it here, so it would
// end the process.
func (r *Reader[K, V]) run(g *group[K, V]) {
	defer r.end()
	defer close(g.done)
	defer func() {
		if p := recover(); p != nil {
			g.err = fmt.Errorf("shared read: panic: %v", p)
		}
	}()
	g.err = errNotRead
	g.found, g.err = r.read(g.ctx, g.keys)
}

// end makes room for another read.
func (r *Reader[K, V]) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.running--
	r.start()
}
