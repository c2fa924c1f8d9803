package mongodb_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/event"

	"plaza/internal/testtime"
	"plaza/social"
	"plaza/storage/mongodb"
	"plaza/storage/mongodb/mongotest"
)

// TestReadersOfOneThreadShareReads: many readers of the first page need fewer commands than pages.
func TestReadersOfOneThreadShareReads(t *testing.T) {
	t.Parallel()
	r := new(recorder)
	w := newTownOf(t, r, mongodb.Options{})
	author := w.people(1)[0].User.ID
	p := w.post(status(author, author, public))
	for range 51 {
		w.comment(p, nil, author)
	}
	list := social.List[social.Thread]{Of: social.Thread{Post: p.ID, Order: social.OrderOldest}, Page: social.Page{Limit: 50}}
	const readers = 24
	testtime.Eventually(t, "readers share reads", func() bool {
		r.take()
		var all sync.WaitGroup
		for range readers {
			all.Go(func() {
				if pages, err := w.Thread(w.ctx, []social.List[social.Thread]{list}); err != nil || len(pages[list]) != 50 {
					t.Errorf("got %d comments, %v", len(pages[list]), err)
				}
			})
		}
		all.Wait()
		return len(r.take()) < readers
	})
}

// TestSharedReadsWaitNoLongerThanTheTimeout: the reads that others wait for never end.
func TestSharedReadsWaitNoLongerThanTheTimeout(t *testing.T) {
	t.Parallel()
	thread := social.List[social.Thread]{Of: social.Thread{Order: social.OrderOldest}, Page: social.Page{Limit: 7}}
	for collection, read := range map[string]func(ctx context.Context, s *mongodb.Store, reader social.UserID) error{
		"newsLists": func(ctx context.Context, s *mongodb.Store, reader social.UserID) error {
			_, err := s.News(ctx, reader, social.Page{Limit: 7})
			return err
		},
		"comments": func(ctx context.Context, s *mongodb.Store, _ social.UserID) error {
			_, err := s.Thread(ctx, []social.List[social.Thread]{thread})
			return err
		},
	} {
		t.Run(collection, func(t *testing.T) {
			t.Parallel()
			var isStuck atomic.Bool
			released := make(chan struct{})
			stick := &event.CommandMonitor{Started: func(_ context.Context, e *event.CommandStartedEvent) {
				if from, _ := e.Command.Lookup("find").StringValueOK(); from == collection && isStuck.Load() {
					<-released
				}
			}}
			uri := mongotest.Reused(t)
			readers := newTownAt(t, nil, uri, mongodb.Options{Feeds: mongodb.FeedsHybrid}).people(4)
			s := openAt(t, uri, mongodb.Options{Feeds: mongodb.FeedsHybrid, Monitor: stick, Timeout: testtime.Scale(time.Second)})
			t.Cleanup(func() { close(released) })
			isStuck.Store(true)
			var all sync.WaitGroup
			for _, reader := range readers {
				all.Go(func() {
					if err := read(t.Context(), s, reader.User.ID); !errors.Is(err, social.ErrUnavailable) {
						t.Errorf("got %v, want that the database is not available", err)
					}
				})
			}
			all.Wait()
		})
	}
}
