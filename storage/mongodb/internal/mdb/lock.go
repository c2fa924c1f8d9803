package mdb

import (
	"context"
	"encoding/binary"
	"slices"

	"plaza/id"
)

const stripes = 1024

// Locks are striped mutexes for ids. A context can end the wait for one.
type Locks [stripes]chan struct{}

// NewLocks returns unlocked locks.
func NewLocks() *Locks {
	l := new(Locks)
	for i := range l {
		l[i] = make(chan struct{}, 1)
	}
	return l
}

// Acquire locks all ids, and returns the function that unlocks them. All callers lock in the same
// order, so they cannot deadlock.
func (l *Locks) Acquire(ctx context.Context, ids []id.ID) (func(), error) {
	held := make([]int, 0, len(ids))
	release := func() {
		for _, stripe := range held {
			<-l[stripe]
		}
	}
	for _, stripe := range stripesOf(ids) {
		select {
		case l[stripe] <- struct{}{}:
			held = append(held, stripe)
		case <-ctx.Done():
			release()
			return nil, ctx.Err()
		}
	}
	return release, nil
}

// stripesOf maps ids to stripes by their last bytes, which are random.
func stripesOf(ids []id.ID) []int {
	var all []int
	for _, i := range ids {
		all = append(all, int(binary.BigEndian.Uint64(i[8:])%stripes))
	}
	slices.Sort(all)
	return slices.Compact(all)
}
