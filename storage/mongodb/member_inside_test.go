package mongodb

import (
	"context"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/event"

	"plaza/storage/mongodb/internal/mdb"
)

// TestALeaseEndsByEitherClock: while a machine is suspended the monotonic clock may stand still.
func TestALeaseEndsByEitherClock(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for _, c := range []struct {
		until time.Time
		want  bool
	}{
		{now.Add(time.Hour), false},
		{now.Add(-time.Second), true},
		{now.Add(-time.Second).Round(0), true}, // as the wall has it
	} {
		if got := isOver(c.until); got != c.want {
			t.Errorf("%v is over: %v", c.until, got)
		}
	}
}

// TestSigningOffFromALostDatabase: a server whose heartbeats fail does not wait long for the removal of its document; any other has all the time of Close.
func TestSigningOffFromALostDatabase(t *testing.T) {
	t.Parallel()
	for name, failing := range map[string]bool{"lost": true, "there": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			limits := make(chan time.Duration, 1)
			s := openInside(t, Options{Heartbeat: time.Hour, Monitor: &event.CommandMonitor{Started: func(ctx context.Context, e *event.CommandStartedEvent) {
				if c, _ := e.Command.Lookup("delete").StringValueOK(); c == "servers" {
					until, _ := ctx.Deadline()
					limits <- time.Until(until)
				}
			}}})
			s.member.failing.Store(failing)
			s.member.signOff(withDeadline(t, time.Hour))
			if limit := <-limits; failing != (limit <= lostTimeout) {
				t.Errorf("the database has %v", limit)
			}
			s.member.failing.Store(false)
		})
	}
}

func withDeadline(t *testing.T, within time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	t.Cleanup(cancel)
	return ctx
}

// TestCloseWaitsForOlderEras: a server is known until the last call has ended, also of an era before the current one.
func TestCloseWaitsForOlderEras(t *testing.T) {
	t.Parallel()
	s := openInside(t, Options{})
	old := s.member.now()
	_, call := s.member.Enter(t.Context())
	s.member.mu.Lock()
	s.member.begin(&era{generations: old.generations, threads: old.threads, feeds: old.feeds})
	s.member.mu.Unlock()
	left := make(chan struct{})
	go func() {
		defer close(left)
		s.member.leave()
	}()
	<-s.member.stopped
	if n := must(s.member.servers.CountDocuments(t.Context(), mdb.Doc("_id", s.member.id)))(t); n != 1 {
		t.Errorf("%d servers are known while a call is under way", n)
	}
	select {
	case <-left:
		t.Error("a call is under way, and the server has left")
	default:
	}
	call.Leave()
	<-left
	if n := must(s.member.servers.CountDocuments(t.Context(), mdb.Doc("_id", s.member.id)))(t); n != 0 {
		t.Errorf("%d servers are known when all calls have ended", n)
	}
	if err := s.Ping(t.Context()); err == nil {
		t.Error("a call begins after the last one")
	}
}

// TestCallsMeetClose: a store that is always busy closes when the calls under way have ended. It had waited for a moment without any.
func TestCallsMeetClose(t *testing.T) {
	t.Parallel()
	s := openInside(t, Options{})
	var calling sync.WaitGroup
	for range 8 {
		calling.Go(func() {
			for s.Ping(t.Context()) == nil { //nolint:revive // until it is refused
			}
		})
	}
	s.member.leave()
	calling.Wait()
	if n := must(s.member.servers.CountDocuments(t.Context(), mdb.Doc("_id", s.member.id)))(t); n != 0 {
		t.Errorf("%d servers are known when all calls have ended", n)
	}
}
