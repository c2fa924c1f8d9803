package mongodb

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/event"

	"plaza/internal/testtime"
	"plaza/storage/mongodb/internal/mdb"
)

// holder keeps commands on one collection from going on until they are released, whatever their deadlines.
type holder struct {
	name, collection string
	left             atomic.Int64 // how many commands are still to be held
	held             atomic.Int64
	released         chan struct{}
}

// hold holds n commands from now on.
func (h *holder) hold(n int64) { h.left.Store(n) }

func (h *holder) started(_ context.Context, e *event.CommandStartedEvent) {
	if c, _ := e.Command.Lookup(e.CommandName).StringValueOK(); e.CommandName == h.name && c == h.collection {
		h.wait()
	}
}

func (h *holder) wait() {
	if h.left.Add(-1) >= 0 {
		h.held.Add(1)
		<-h.released
	}
}

// TestHeartbeatsThatHangAreOvertaken: the lease is renewed while three heartbeats in a row get no answer, not even that they have failed.
func TestHeartbeatsThatHangAreOvertaken(t *testing.T) {
	t.Parallel()
	h := holder{name: "update", collection: "servers", released: make(chan struct{})}
	s := openInside(t, Options{
		Heartbeat: time.Millisecond, Lease: testtime.Scale(200 * time.Millisecond), Monitor: &event.CommandMonitor{Started: h.started},
	})
	t.Cleanup(func() { close(h.released) }) // before the store is closed
	h.hold(3)
	testtime.Eventually(t, "three heartbeats that hang", func() bool { return h.held.Load() == 3 })
	hung := time.Now()
	testtime.Eventually(t, "a heartbeat after them", func() bool {
		s.member.mu.Lock()
		defer s.member.mu.Unlock()
		return s.member.writesUntil.After(hung.Add(s.member.lease))
	})
}

// TestAHeartbeatThatIsLateChangesNothing: what a slow heartbeat has read is older than what a quick one has adopted meanwhile.
func TestAHeartbeatThatIsLateChangesNothing(t *testing.T) {
	t.Parallel()
	var reads holder
	reads.released = make(chan struct{})
	s := openInside(t, Options{Heartbeat: time.Hour, Monitor: &event.CommandMonitor{
		Succeeded: func(_ context.Context, e *event.CommandSucceededEvent) {
			batch, err := e.Reply.LookupErr("cursor", "firstBatch")
			if err == nil && len(must(batch.Array().Values())(t)) == 3 { // the settings
				reads.wait()
			}
		},
	}})
	generation := func() int { return s.member.now().generations[feedsSetting().name] }
	before := generation()
	late := make(chan error, 1)
	reads.hold(1)
	go func() { late <- s.member.beat(t.Context(), testtime.Patience()) }()
	testtime.Eventually(t, "a heartbeat that is slow", func() bool { return reads.held.Load() == 1 })
	_, err := s.settings.UpdateOne(t.Context(), mdb.Doc("_id", feedsSetting().name), mdb.Doc("$inc", mdb.Doc("generation", 1)))
	ok(t, err)
	ok(t, s.member.beat(t.Context(), testtime.Patience()))
	close(reads.released)
	if err := <-late; err != errStaleBeat { //nolint:errorlint // it is never wrapped
		t.Errorf("the late heartbeat: %v", err)
	}
	if got := generation(); got != before+1 {
		t.Errorf("the generation is %d after the late heartbeat, want %d", got, before+1)
	}
}
