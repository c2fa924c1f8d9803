package mdb

import (
	"context"
	"errors"

	"plaza/id"
	"plaza/social"
)

// SharedWrites puts concurrent writes into common transactions. Those of one key, the id of the
// document that each of them changes, share one as in [WriteQueue]. A write that is alone with its
// key shares one with others that are alone. One of these must not delay or fail the others: if
// they can't be stored together at once, each gets its own transaction (ADR 64).
type SharedWrites[T any] struct {
	db    *DB
	op    string
	store func(ctx context.Context, batch []T) error
	queue *WriteQueue[id.ID, *sharedWrite[T]]
	lone  *WriteQueue[struct{}, *sharedWrite[T]]
}

type sharedWrite[T any] struct {
	write    T
	attempts []social.Attempt
	left     <-chan struct{} // closed when its caller stops waiting
	apart    bool            // it was not stored, and must be stored by itself
	outcome  error           // of together, unless apart is set
}

// ErrApart is what store returns for writes that can't share a transaction, but may be stored one by
// one.
var ErrApart = errors.New("these writes can't share a transaction")

// NewSharedWrites returns the writes of one operation. store is a part of a transaction, and stores
// one or more of them: all of one key, or each of another.
func NewSharedWrites[T any](db *DB, op string, store func(ctx context.Context, batch []T) error) *SharedWrites[T] {
	s := &SharedWrites[T]{db: db, op: op, store: store}
	s.queue, s.lone = NewWriteQueue(s.ofOneKey), NewWriteQueue(s.together)
	return s
}

// Do stores a write, and waits for the result until ctx ends, or the time limit of one call. If
// there is an error, the caller must not read what store has set in the write.
func (s *SharedWrites[T]) Do(ctx context.Context, key id.ID, write T) error {
	limited, cancel := s.db.Limit(ctx)
	defer cancel()
	own := &sharedWrite[T]{write: write, attempts: social.AttemptsOf(ctx), left: limited.Done()}
	return Translate(ctx, s.op, s.queue.Do(limited, key, own))
}

// State returns whether a transaction of a key is running, and how many writes wait for the next
// one.
func (s *SharedWrites[T]) State(key id.ID) (running bool, waiting int) { return s.queue.State(key) }

// Lone returns how many writes that are alone with their keys wait for the next transaction of such
// writes.
func (s *SharedWrites[T]) Lone() (waiting int) {
	_, waiting = s.lone.State(struct{}{})
	return waiting
}

func (s *SharedWrites[T]) ofOneKey(ctx context.Context, key id.ID, batch []*sharedWrite[T]) error {
	if own := batch[0]; len(batch) == 1 && !own.apart {
		switch err := s.lone.Do(ctx, struct{}{}, own); {
		case err != nil:
			return err
		case !own.apart:
			return own.outcome
		case isClosed(own.left):
			return context.Canceled
		}
	}
	for _, w := range batch {
		w.apart = true // from now on
	}
	return s.db.Write(ctx, s.op, []id.ID{key}, func(ctx context.Context) error { return s.store(ctx, writesOf(batch)) })
}

// together tries once to store writes of different keys. It waits for no other writers. Those of
// callers who have left are not stored, and do not take effect for their idempotency keys.
func (s *SharedWrites[T]) together(ctx context.Context, _ struct{}, batch []*sharedWrite[T]) error {
	waiting := make([]*sharedWrite[T], 0, len(batch))
	var attempts []social.Attempt
	for _, w := range batch {
		if isClosed(w.left) {
			w.outcome = context.Canceled
			continue
		}
		waiting, attempts = append(waiting, w), append(attempts, w.attempts...)
	}
	if len(waiting) == 0 {
		return nil
	}
	isOpen, err := s.db.tryWrite(social.WithAttempts(ctx, attempts...), s.op, func(ctx context.Context) error {
		return s.store(ctx, writesOf(waiting))
	})
	for _, w := range waiting {
		w.outcome, w.apart = err, err != nil && !isOpen
	}
	return nil
}

func writesOf[T any](batch []*sharedWrite[T]) []T {
	return Map(batch, func(w **sharedWrite[T]) T { return (*w).write })
}
