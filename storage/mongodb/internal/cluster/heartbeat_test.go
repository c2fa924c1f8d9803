package cluster

import (
	"context"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/event"

	"plaza/internal/testtime"
	"plaza/storage/mongodb/internal/mdb"
	"plaza/storage/mongodb/internal/mdbtest"
)

// TestHeartbeatsThatHangAreOvertaken: the lease is renewed although three heartbeats in a row get
// no answer, not even an error.
func TestHeartbeatsThatHangAreOvertaken(t *testing.T) {
	t.Parallel()
	h := mdbtest.NewHolder("findAndModify", "servers")
	s := open(t, &event.CommandMonitor{Started: h.Started}, time.Millisecond, testtime.Scale(200*time.Millisecond))
	t.Cleanup(h.Release) // before the server leaves
	h.Hold(3)
	testtime.Eventually(t, "three heartbeats that hang", func() bool { return h.Held() == 3 })
	hung := time.Now()
	testtime.Eventually(t, "a heartbeat after them", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.writesUntil.After(hung.Add(s.lease))
	})
}

// TestAHeartbeatThatIsLateChangesNothing: a slow heartbeat may have read older settings than those
// that a faster one has adopted meanwhile.
func TestAHeartbeatThatIsLateChangesNothing(t *testing.T) {
	t.Parallel()
	reads := mdbtest.NewHolder("", "")
	s := open(t, &event.CommandMonitor{
		Succeeded: func(_ context.Context, e *event.CommandSucceededEvent) {
			batch, err := e.Reply.LookupErr("cursor", "firstBatch")
			if err != nil {
				return
			}
			if settings, _ := batch.Array().Values(); len(settings) == len(settingNames) {
				reads.Wait()
			}
		},
	}, time.Hour, testtime.Patience())
	generation := func() int { return s.Now().Generations[settingNames[0]] }
	before := generation()
	late := make(chan error, 1)
	reads.Hold(1)
	go func() { late <- s.beat(t.Context(), testtime.Patience()) }()
	testtime.Eventually(t, "a heartbeat that is slow", func() bool { return reads.Held() == 1 })
	if _, err := s.settings.UpdateOne(t.Context(), mdb.Doc("_id", settingNames[0]), mdb.Doc("$inc", mdb.Doc("generation", 1))); err != nil {
		t.Fatal(err)
	}
	if err := s.beat(t.Context(), testtime.Patience()); err != nil {
		t.Fatal(err)
	}
	reads.Release()
	if err := <-late; err != errStaleBeat { //nolint:errorlint // it is never wrapped
		t.Errorf("the late heartbeat: %v", err)
	}
	if got := generation(); got != before+1 {
		t.Errorf("the generation is %d after the late heartbeat, want %d", got, before+1)
	}
}
