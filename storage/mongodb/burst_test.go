package mongodb

import (
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/event"

	"plaza/id"
	"plaza/internal/testtime"
	"plaza/social"
	"plaza/storage/mongodb/internal/cluster"
	"plaza/storage/mongodb/internal/mdbtest"
	"plaza/storage/mongodb/mongotest"
)

// TestBurstsWaitForConnections: a call that finds all connections in use waits for one until its own
// deadline, and not only for as long as calls wait for a primary.
func TestBurstsWaitForConnections(t *testing.T) {
	t.Parallel()
	const connections = 3
	h := mdbtest.NewHolder("find", "posts")
	s := openIn(t, mongotest.Reused(t)+"&maxPoolSize=3", Options{
		Unjournaled: true, Timeout: time.Hour, Heartbeat: time.Hour, Lease: 3 * time.Hour,
		Monitor: &event.CommandMonitor{Started: h.Started},
	})
	h.Hold(connections)
	read := make(chan error)
	for range connections + 1 {
		go func() {
			_, err := s.Posts(t.Context(), []social.PostID{{ID: id.New()}})
			read <- err
		}()
	}
	testtime.Eventually(t, "all connections are in use", func() bool { return h.Held() == connections })
	select {
	case err := <-read:
		t.Errorf("a call that waits for a connection: %v", err)
		h.Release()
		return
	case <-time.After(cluster.ElectionTime + cluster.ElectionTime/8):
	}
	h.Release()
	for range connections + 1 {
		ok(t, <-read)
	}
}
