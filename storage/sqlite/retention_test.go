package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"plaza/id"
	"plaza/social"
	"plaza/storage/sqlite/internal/eventlog"
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
		err := s.log.Update(t.Context(), func(tx *eventlog.Tx) error {
			for range n {
				e := social.Event{ID: social.EventID{ID: id.At(time.Now().Add(-age))}, Kind: social.EventPostCreated}
				if err := tx.Append(e); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	const old, young, future = 3*eventlog.PruneBatch + 7, 40, 2*eventlog.PruneBatch + 3
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
	file := connect(t, path)
	written := 0
	for countEvents(t, file) > future+young+written {
		appendEvents(1, 0)
		written++
	}
	if left := countEvents(t, file); left != future+young+written {
		t.Errorf("%d events are left, want %d", left, future+young+written)
	}
	appendEvents(1, 0)                    // stays: it is the log's end
	for countEvents(t, file) > future+1 { // each check is at a later time
		if err := s.KeepEvents(t.Context(), time.Nanosecond); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Tail(t.Context(), strconv.Itoa(future+1)); !errors.Is(err, social.ErrPositionLost) {
		t.Errorf("the position of a pruned event: %v, want ErrPositionLost", err)
	}
	tail, err := s.Tail(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	last := tail.Position()
	var stored int64
	err = file.QueryRowContext(t.Context(), `SELECT max(seq) FROM events`).Scan(&stored)
	if want := int64(future + old + young + written + 1); err != nil || last != strconv.FormatInt(want, 10) || stored != want {
		t.Errorf("the log ends at %s, stored %d, want %d (%v)", last, stored, want, err)
	}
}

func countEvents(t *testing.T, file *sql.DB) (n int) {
	t.Helper()
	if err := file.QueryRowContext(t.Context(), `SELECT count(*) FROM events`).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestAStreamWaitsAfterForgottenEvents: when the log forgets the events that a stream has not read,
// it waits for the next one, and does not look for the forgotten ones again and again.
func TestAStreamWaitsAfterForgottenEvents(t *testing.T) {
	path := filepath.Join(t.TempDir(), "plaza.sqlite")
	synctest.Test(t, func(t *testing.T) {
		s, err := Open(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		stream, err := s.Tail(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		gone, reading := social.UserID{ID: id.New()}, newFuse(t.Context(), 1000)
		last := social.Event{ID: social.EventID{ID: id.New()}, Kind: social.EventPostCreated}
		appendTo(t, s, social.Event{ID: social.EventID{ID: id.New()}, Kind: social.EventMuted, Actor: gone})
		err = s.log.Update(t.Context(), func(tx *eventlog.Tx) error {
			_, err := eventlog.Forget(tx.Tx, gone, 1)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		var got social.Event
		var failed error
		go func() { got, failed = stream.Next(reading) }()
		synctest.Wait() // until Next waits, or has looked for events too often
		if failed != nil {
			t.Errorf("Next does not wait: %v", failed)
		}
		appendTo(t, s, last)
		synctest.Wait()
		if got.ID != last.ID || failed != nil {
			t.Errorf("the next event is %+v, %v", got, failed)
		}
		if err := errors.Join(stream.Close(), s.Close()); err != nil {
			t.Error(err)
		}
	})
}

func appendTo(t *testing.T, s *Store, e social.Event) {
	t.Helper()
	if err := s.log.Update(t.Context(), func(tx *eventlog.Tx) error { return tx.Append(e) }); err != nil {
		t.Fatal(err)
	}
}
