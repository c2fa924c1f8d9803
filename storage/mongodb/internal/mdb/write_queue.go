package mdb

import (
	"context"
	"errors"
	"slices"
	"sync"

	"plaza/social"
)

// maxTogether is how many writes one transaction takes: it must end soon, also on a slow disk.
const maxTogether = 32

// WriteQueue groups writes that can't run side by side, because each of them changes the document
// that K names. What comes in while one transaction runs goes into the next one together, so that a
// busy document waits for the disk once a transaction, not once a write. Each server has its own
// queue; servers meet in the database.
type WriteQueue[K comparable, T any] struct {
	store func(ctx context.Context, key K, batch []T) error // in one transaction

	mu      sync.Mutex
	waiting map[K][]*queuedWrite[T] // a key that is here has a goroutine that stores its writes
}

// NewWriteQueue makes a queue whose transactions store runs: each gets the writes of one key.
func NewWriteQueue[K comparable, T any](store func(context.Context, K, []T) error) *WriteQueue[K, T] {
	return &WriteQueue[K, T]{store: store, waiting: map[K][]*queuedWrite[T]{}}
}

// queuedWrite is a write that waits for its transaction.
type queuedWrite[T any] struct {
	write    T
	attempts []social.Attempt
	done     chan error      // gets its result; has room for it
	left     <-chan struct{} // closed when its caller stops waiting
}

// hasLeft says whether the caller has been told that it took too long. What has not begun by then
// must not: it would come at any time, also when its author has been gone for long.
func (w *queuedWrite[T]) hasLeft() bool {
	select {
	case <-w.left:
		return true
	default:
		return false
	}
}

// Do stores a write together with others of its key, and waits for the result until ctx ends. Then
// it is unknown whether the write was stored, and its fields must not be read.
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

// add queues a write, and says whether it is the first of its key, for which run must be called.
func (q *WriteQueue[K, T]) add(key K, w *queuedWrite[T]) (first bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	waiting, running := q.waiting[key]
	q.waiting[key] = append(waiting, w)
	return !running
}

// State says whether a transaction of a key is under way, and how many writes wait for the next
// one.
func (q *WriteQueue[K, T]) State(key K) (running bool, waiting int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	all, running := q.waiting[key]
	return running, len(all)
}

// take removes the next writes of a key. None: the goroutine has to end.
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

// storeEach stores each write in a transaction of its own: one of them is refused, and would take
// the others along.
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
