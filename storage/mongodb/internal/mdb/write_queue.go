package mdb

import (
	"context"
	"errors"
	"slices"
	"sync"

	"plaza/social"
)

// maxTogether is the most writes in one transaction, which must end soon even on a slow disk.
const maxTogether = 32

// WriteQueue groups writes that can't run concurrently, because each of them changes the document
// that K names. The writes that arrive while one transaction runs share the next one. So a busy
// document waits for the disk once for each transaction, not once for each write. Each server has
// its own queue; writes of different servers conflict in the database.
type WriteQueue[K comparable, T any] struct {
	store func(ctx context.Context, key K, batch []T) error // in one transaction

	mu      sync.Mutex
	waiting map[K][]*queuedWrite[T] // a key in this map has a goroutine that stores its writes
}

// NewWriteQueue returns a queue. It calls store to run a transaction with writes of one key.
func NewWriteQueue[K comparable, T any](store func(context.Context, K, []T) error) *WriteQueue[K, T] {
	return &WriteQueue[K, T]{store: store, waiting: map[K][]*queuedWrite[T]{}}
}

// queuedWrite is a write that waits for its transaction.
type queuedWrite[T any] struct {
	write    T
	attempts []social.Attempt
	done     chan error      // gets the result; has a buffer for it
	left     <-chan struct{} // closed when its caller stops waiting
}

// hasLeft reports whether the caller has stopped waiting. A write that has not begun by then must
// not begin: it could happen at any later time, even long after the caller has reported the
// failure.
func (w *queuedWrite[T]) hasLeft() bool { return isClosed(w.left) }

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// Do stores a write together with others of its key, and waits for the result until ctx ends. If
// ctx ends first, the write may or may not be stored, and the caller must not read its fields.
func (q *WriteQueue[K, T]) Do(ctx context.Context, key K, write T) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	own := &queuedWrite[T]{write: write, attempts: social.AttemptsOf(ctx), done: make(chan error, 1), left: ctx.Done()}
	if q.add(key, own) {
		go q.run(context.WithoutCancel(ctx), key) // others may join: it does not end with this caller
	}
	select {
	case err := <-own.done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// add queues a write, and reports whether it is the first of its key, for which run must be called.
func (q *WriteQueue[K, T]) add(key K, w *queuedWrite[T]) (first bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	waiting, running := q.waiting[key]
	q.waiting[key] = append(waiting, w)
	return !running
}

// State returns whether a transaction of a key is running, and how many writes wait for the next
// one.
func (q *WriteQueue[K, T]) State(key K) (running bool, waiting int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	all, running := q.waiting[key]
	return running, len(all)
}

// take removes and returns the next writes of a key. If there are none, the goroutine must end.
func (q *WriteQueue[K, T]) take(key K) []*queuedWrite[T] {
	q.mu.Lock()
	defer q.mu.Unlock()
	waiting := slices.DeleteFunc(q.waiting[key], (*queuedWrite[T]).hasLeft)
	if len(waiting) == 0 {
		delete(q.waiting, key)
		return nil
	}
	n := min(len(waiting), maxTogether)
	q.waiting[key] = waiting[n:]
	return waiting[:n]
}

// run stores a key's writes until none is waiting.
func (q *WriteQueue[K, T]) run(ctx context.Context, key K) {
	for batch := q.take(key); len(batch) > 0; batch = q.take(key) {
		err := q.storeAll(ctx, key, batch)
		if len(batch) > 1 && err != nil && !errors.Is(err, social.ErrUnavailable) {
			q.storeEach(ctx, key, batch)
			continue
		}
		for _, w := range batch {
			w.done <- err
		}
	}
}

// storeEach stores each write in its own transaction, because one that fails would make the others
// fail too.
func (q *WriteQueue[K, T]) storeEach(ctx context.Context, key K, batch []*queuedWrite[T]) {
	for i, w := range batch {
		if !w.hasLeft() {
			w.done <- q.storeAll(ctx, key, batch[i:i+1])
		}
	}
}

func (q *WriteQueue[K, T]) storeAll(ctx context.Context, key K, batch []*queuedWrite[T]) error {
	var attempts []social.Attempt
	for _, w := range batch {
		attempts = append(attempts, w.attempts...)
	}
	ctx = social.WithAttempts(ctx, attempts...)
	return q.store(ctx, key, Map(batch, func(w **queuedWrite[T]) T { return (*w).write }))
}
