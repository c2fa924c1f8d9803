package mongodb

import (
	"context"
	"errors"
	"sync"
	"testing"

	"plaza/id"
	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
)

// TestSharedWritesAreStoredOnceOrRefused lets many writers of different keys wait for the first one.
// Some are refused, which does not affect the others, and some fail at the first attempt of their
// transaction. Callers who leave while they wait are not stored.
func TestSharedWritesAreStoredOnceOrRefused(t *testing.T) {
	t.Parallel()
	s := openInside(t, Options{})
	const writers = 53
	isRefused := func(w int) bool { return w%7 == 3 }
	conflicts := func(w int) bool { return w%11 == 5 }
	hasLeft := func(w int) bool { return w%5 == 4 }

	var mu sync.Mutex
	stored, attempts := map[int]int{}, map[int]int{}
	first, proceed := make(chan struct{}), make(chan struct{})
	shared := mdb.NewSharedWrites(s.db, "test", func(_ context.Context, batch []int) error {
		if batch[0] == 0 {
			close(first)
			<-proceed
		}
		mu.Lock()
		defer mu.Unlock()
		for _, w := range batch {
			if isRefused(w) {
				return social.ErrTaken
			}
			if attempts[w]++; conflicts(w) && attempts[w] == 1 {
				return mdb.ErrConflict
			}
		}
		for _, w := range batch {
			stored[w]++
		}
		return nil
	})
	staying, leaving := t.Context(), t.Context()
	leaving, leave := context.WithCancel(leaving)
	errs := make([]error, writers)
	var all sync.WaitGroup
	write := func(w int) {
		ctx := staying
		if hasLeft(w) {
			ctx = leaving
		}
		errs[w] = shared.Do(ctx, id.New(), w)
	}
	all.Go(func() { write(0) })
	<-first
	for w := 1; w < writers; w++ {
		all.Go(func() { write(w) })
	}
	leave()
	close(proceed)
	all.Wait()
	for w, err := range errs {
		times := 1
		switch {
		case hasLeft(w):
			times = 0
			if !errors.Is(err, context.Canceled) {
				t.Errorf("writer %d, who has left: %v", w, err)
			}
		case isRefused(w):
			times = 0
			if !errors.Is(err, social.ErrTaken) {
				t.Errorf("writer %d, who is refused: %v", w, err)
			}
		default:
			ok(t, err)
		}
		if stored[w] != times {
			t.Errorf("writer %d is stored %d times, want %d", w, stored[w], times)
		}
	}
}
