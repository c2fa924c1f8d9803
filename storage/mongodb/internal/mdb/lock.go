package mdb

import (
	"context"
	"encoding/binary"
	"slices"

	"plaza/id"
)

const stripes = 1024

// Locks are striped mutexes over ids, which can be waited for with a context.
type Locks [stripes]chan struct{}

// NewLocks makes locks that nothing holds.
func NewLocks() *Locks {
	l := new(Locks)
	for i := range l {
		l[i] = make(chan struct{}, 1)
	}
	return l
}

// Acquire locks all ids, in the same order for everybody, and returns what unlocks them.
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

// stripesOf takes the ids' last bytes, which are random.
func stripesOf(ids []id.ID) []int {
	var all []int
	for _, i := range ids {
		all = append(all, int(binary.BigEndian.Uint64(i[8:])%stripes))
	}
	slices.Sort(all)
	return slices.Compact(all)
}
