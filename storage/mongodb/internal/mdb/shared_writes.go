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
	write   T
	left    <-chan struct{} // closed when its caller stops waiting
	outcome error           // of together
}

// ErrApart is returned for writes that can't share a transaction, but may be stored one by one.
var ErrApart = errors.New("these writes can't share a transaction")

// NewSharedWrites returns the writes of one operation. store is a part of a transaction, and stores
// one or more of them; writes of the same key follow one another.
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
	return Translate(ctx, s.op, s.queue.Do(limited, key, &sharedWrite[T]{write: write, left: limited.Done()}))
}

// State returns whether a transaction of a key is running, and how many writes wait for the next
// one.
func (s *SharedWrites[T]) State(key id.ID) (running bool, waiting int) { return s.queue.State(key) }

func (s *SharedWrites[T]) ofOneKey(ctx context.Context, key id.ID, batch []*sharedWrite[T]) error {
	if len(batch) == 1 {
		if err := s.lone.Do(ctx, struct{}{}, batch[0]); err != nil {
			return err
		}
		if err := batch[0].outcome; !errors.Is(err, ErrApart) {
			return err
		}
	}
	return s.db.Write(ctx, s.op, []id.ID{key}, func(ctx context.Context) error { return s.store(ctx, writesOf(batch)) })
}

// together tries once to store writes of different keys. It waits for no other writers.
func (s *SharedWrites[T]) together(ctx context.Context, _ struct{}, batch []*sharedWrite[T]) error {
	waiting := make([]*sharedWrite[T], 0, len(batch))
	for _, w := range batch {
		select {
		case <-w.left:
			w.outcome = context.Canceled
		default:
			waiting = append(waiting, w)
		}
	}
	if len(waiting) == 0 {
		return nil
	}
	attempts := 0
	var failed error // before the commit, whose outcome could be unknown
	err := s.db.Write(ctx, s.op, nil, func(ctx context.Context) error {
		if attempts++; attempts > 1 {
			failed = ErrApart
		} else {
			failed = s.store(ctx, writesOf(waiting))
		}
		return failed
	})
	if err != nil && failed != nil && !errors.Is(err, social.ErrUnavailable) {
		err = ErrApart
	}
	for _, w := range waiting {
		w.outcome = err
	}
	return nil
}

func writesOf[T any](batch []*sharedWrite[T]) []T {
	return Map(batch, func(w **sharedWrite[T]) T { return (*w).write })
}
