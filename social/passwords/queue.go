package passwords

import (
	"context"
	"slices"
	"sync"
	"time"

	"plaza/fault"
)

// queue lets a few hashes be computed concurrently; the others wait, lowest rank first. A rank
// counts the recent attempts of a client, so a client that tries many passwords waits behind those
// that try one.
type queue struct {
	most int // how many may wait; 0: any number

	mu      sync.Mutex
	free    int // hashes that may start without waiting
	waiting []*turn
}

// turn is a place in the queue.
type turn struct {
	rank int
	come chan error // nil: it is this one's turn
}

func (q *queue) errFull() error { return fault.RateLimited("passwords", time.Second) }

// enter returns when a hash may be computed; leave must follow. Errors: RATE_LIMITED if the queue
// is full of lower ranks, or becomes so; ctx's.
func (q *queue) enter(ctx context.Context, rank int) error {
	t, err := q.join(rank)
	if err != nil {
		return err
	}
	select {
	case err := <-t.come:
		return err
	case <-ctx.Done():
	}
	if !q.drop(t) && <-t.come == nil { // its turn has come meanwhile
		q.leave()
	}
	return ctx.Err()
}

func (q *queue) join(rank int) (*turn, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	t := &turn{rank, make(chan error, 1)}
	if q.free > 0 {
		q.free--
		t.come <- nil
		return t, nil
	}
	if q.most > 0 && len(q.waiting) >= q.most {
		last := q.waiting[len(q.waiting)-1]
		if last.rank <= rank {
			return nil, q.errFull()
		}
		q.waiting = q.waiting[:len(q.waiting)-1]
		last.come <- q.errFull()
	}
	behind, _ := slices.BinarySearchFunc(q.waiting, rank+1, func(t *turn, rank int) int { return t.rank - rank })
	q.waiting = slices.Insert(q.waiting, behind, t)
	return t, nil
}

// drop takes a turn out of the queue, unless it has come.
func (q *queue) drop(t *turn) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.Index(q.waiting, t)
	if i >= 0 {
		q.waiting = slices.Delete(q.waiting, i, i+1)
	}
	return i >= 0
}

// leave lets the next one start.
func (q *queue) leave() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) == 0 {
		q.free++
		return
	}
	next := q.waiting[0]
	q.waiting = slices.Delete(q.waiting, 0, 1)
	next.come <- nil
}

// length returns how many are waiting.
func (q *queue) length() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiting)
}
