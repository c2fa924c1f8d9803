package mongodb

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"plaza/id"
	"plaza/internal/testtime"
	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
)

// sharedWriters are writers 1, 2, … of different keys, who wait while writer 0 is stored.
type sharedWriters struct {
	t      *testing.T
	store  *Store
	shared *mdb.SharedWrites[int]
	first  chan struct{}   // closed when writer 0 is being stored
	go0    chan struct{}   // closed to let it end
	fails  func(int) error // what the next attempt to store a writer returns
	all    sync.WaitGroup

	mu     sync.Mutex
	stored map[int]int
	errs   map[int]error
}

func newSharedWriters(t *testing.T, fails func(int) error) *sharedWriters {
	t.Helper()
	w := &sharedWriters{
		t: t, store: openInside(t, Options{}), first: make(chan struct{}), go0: make(chan struct{}),
		fails: fails, stored: map[int]int{}, errs: map[int]error{},
	}
	w.shared = mdb.NewSharedWrites(w.store.db, "test", w.storeBatch)
	w.begin(t.Context(), 0)
	<-w.first
	return w
}

func (w *sharedWriters) storeBatch(_ context.Context, batch []int) error {
	if batch[0] == 0 {
		close(w.first)
		<-w.go0
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, i := range batch {
		if err := w.fails(i); err != nil {
			return err
		}
	}
	for _, i := range batch {
		w.stored[i]++
	}
	return nil
}

// begin lets writers write.
func (w *sharedWriters) begin(ctx context.Context, writers ...int) {
	for _, i := range writers {
		w.all.Go(func() {
			err := w.shared.Do(ctx, id.New(), i)
			w.mu.Lock()
			defer w.mu.Unlock()
			w.errs[i] = err
		})
	}
}

// end lets the writers be stored, once n of them wait together.
func (w *sharedWriters) end(n int, before func()) {
	w.t.Helper()
	testtime.Eventually(w.t, "the writers wait", func() bool { return w.shared.Lone() == n })
	before()
	close(w.go0)
	w.all.Wait()
}

// want checks how a writer has fared.
func (w *sharedWriters) want(writer, times int, want error) {
	w.t.Helper()
	if err := w.errs[writer]; !errors.Is(err, want) || w.stored[writer] != times {
		w.t.Errorf("writer %d: %v, stored %d times; want %v, %d times", writer, err, w.stored[writer], want, times)
	}
}

func never(int) error { return nil }

// TestSharedWritesAreStoredOnceOrRefused lets writers wait together. Some are refused, which does not
// affect the others, and some conflict at their first attempt. Callers who leave meanwhile are not
// stored.
func TestSharedWritesAreStoredOnceOrRefused(t *testing.T) {
	t.Parallel()
	tried := map[int]bool{}
	w := newSharedWriters(t, func(i int) error {
		switch first := !tried[i]; {
		case i%7 == 3:
			return social.ErrTaken
		case i%11 == 5 && first:
			tried[i] = true
			return mdb.ErrConflict
		}
		return nil
	})
	leaving, leave := context.WithCancel(t.Context())
	const writers = 29
	for i := 1; i < writers; i++ {
		if i%5 == 4 {
			w.begin(leaving, i)
		} else {
			w.begin(t.Context(), i)
		}
	}
	w.end(writers-1, leave)
	for i := range writers {
		switch {
		case i%5 == 4:
			w.want(i, 0, context.Canceled)
		case i%7 == 3:
			w.want(i, 0, social.ErrTaken)
		default:
			w.want(i, 1, nil)
		}
	}
}

// TestSharedWritesOfCallersWhoLeaveAreNotTriedAgain: a write that failed with others is not stored by
// itself if its caller has left by then.
func TestSharedWritesOfCallersWhoLeaveAreNotTriedAgain(t *testing.T) {
	t.Parallel()
	leaving, leave := context.WithCancel(t.Context())
	tries := 0
	w := newSharedWriters(t, func(i int) error {
		if i != 1 {
			return nil
		}
		tries++
		leave()
		return social.ErrTaken
	})
	w.begin(leaving, 1)
	w.begin(t.Context(), 2)
	w.end(2, func() {})
	w.want(1, 0, context.Canceled)
	w.want(2, 1, nil)
	w.begin(t.Context(), 3) // the queue goes on
	w.all.Wait()
	w.want(3, 1, nil)
	if tries != 1 {
		t.Errorf("the write of a caller who has left was tried %d times", tries)
	}
}

// TestAttemptsOfSharedWrites: one whose idempotency key belongs to another attempt does not affect
// the others, and the key of one whose caller has left is still free.
func TestAttemptsOfSharedWrites(t *testing.T) {
	t.Parallel()
	w := newSharedWriters(t, never)
	attempt := func() social.Attempt {
		return social.Attempt{User: social.UserID{ID: id.New()}, Key: "key", Fingerprint: [32]byte{1}, ID: id.New()}
	}
	over, left := attempt(), attempt()
	must(w.store.BeginAttempt(t.Context(), left, time.Minute))(t)
	leaving, leave := context.WithCancel(social.WithAttempts(t.Context(), left))
	w.begin(social.WithAttempts(t.Context(), over), 1) // it never had the key
	w.begin(leaving, 2)
	w.begin(t.Context(), 3, 4)
	w.end(4, leave)
	w.want(1, 0, social.ErrAttemptOver)
	w.want(2, 0, context.Canceled)
	w.want(3, 1, nil)
	w.want(4, 1, nil)
	ok(t, w.store.EndAttempt(t.Context(), left, nil))
	left.ID = id.New()
	must(w.store.BeginAttempt(t.Context(), left, time.Minute))(t)
}

// TestHeldKeysDelayNoOtherWrites holds an idempotency key in a transaction that stays open, like that
// of a killed server.
func TestHeldKeysDelayNoOtherWrites(t *testing.T) {
	t.Parallel()
	w := newSharedWriters(t, never)
	a := social.Attempt{User: social.UserID{ID: id.New()}, Key: "key", Fingerprint: [32]byte{1}, ID: id.New()}
	must(w.store.BeginAttempt(t.Context(), a, time.Minute))(t)
	session := must(w.store.client().StartSession())(t)
	ok(t, session.StartTransaction())
	inside := mongo.NewSessionContext(t.Context(), session)
	keys := w.store.posts.Database().Collection("idempotencyKeys")
	must(keys.UpdateMany(inside, bson.D{}, mdb.Doc("$set", mdb.Doc("held", true))))(t)
	w.begin(social.WithAttempts(t.Context(), a), 1)
	w.begin(t.Context(), 2, 3)
	testtime.Eventually(t, "the writers wait", func() bool { return w.shared.Lone() == 3 })
	close(w.go0)
	storedTwo := func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.stored[2] == 1 && w.stored[3] == 1 && w.stored[1] == 0
	}
	testtime.Eventually(t, "the others are stored", storedTwo)
	ok(t, session.AbortTransaction(inside))
	session.EndSession(t.Context())
	w.all.Wait()
	w.want(1, 1, nil)
}
