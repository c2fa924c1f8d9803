package sqlite

import (
	"context"
	"errors"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"plaza/id"
	"plaza/social"
)

// TestOldEventsAreRemoved removes several batches of old events, and nothing else, while a user
// writes. Numbering continues after all events of a log are gone.
func TestOldEventsAreRemoved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "plaza.sqlite")
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	appendEvents := func(n int, age time.Duration) {
		err := s.update(t.Context(), func(w *work) error {
			for range n {
				e := social.Event{ID: social.EventID{ID: id.At(time.Now().Add(-age))}, Kind: social.EventPostCreated}
				if err := w.append(e); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	const old, young, future = 3*pruneBatchSize + 7, 40, 2*pruneBatchSize + 3
	appendEvents(future, -time.Hour) // written with a wrong clock
	appendEvents(old, 26*time.Hour)
	appendEvents(young, 23*time.Hour)
	if err := s.KeepEvents(t.Context(), 24*time.Hour); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	worked := make(chan struct{})
	go func() { defer close(worked); s.Work(ctx) }()
	defer func() { stop(); <-worked; _ = s.Close() }()
	written := 0
	for countEvents(t, s) > future+young+written {
		appendEvents(1, 0)
		written++
	}
	if left := countEvents(t, s); left != future+young+written {
		t.Errorf("%d events are left, want %d", left, future+young+written)
	}
	appendEvents(1, 0)                 // stays: it is the log's end
	for countEvents(t, s) > future+1 { // each check is at a later time
		if err := s.KeepEvents(t.Context(), time.Nanosecond); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Tail(t.Context(), strconv.Itoa(future+1)); !errors.Is(err, social.ErrPositionLost) {
		t.Errorf("the position of a pruned event: %v, want ErrPositionLost", err)
	}
	last, _ := s.log.state()
	var stored int64
	err = s.view(t.Context(), func(w *work) error { _, err := w.row(lastEvent, []any{&stored}); return err })
	if want := int64(future + old + young + written + 1); err != nil || last != want || stored != want {
		t.Errorf("the log ends at %d, stored %d, want %d (%v)", last, stored, want, err)
	}
}

func countEvents(t *testing.T, s *Store) (n int) {
	t.Helper()
	if err := s.reader.db.QueryRowContext(t.Context(), `SELECT count(*) FROM events`).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}
