package cluster

import (
	"context"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.uber.org/goleak"

	"plaza/id"
	"plaza/internal/testtime"
	"plaza/storage/mongodb/internal/mdb"
	"plaza/storage/mongodb/mongotest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m, mongotest.IgnoreServer()) }

// settingNames are the settings on which the servers of these tests agree.
var settingNames = []string{"first", "second", "third"}

// open makes a server join those of a new database. Its calls use the layout of the first setting.
func open(t *testing.T, monitor *event.CommandMonitor, heartbeat, lease time.Duration) *Member[string] {
	t.Helper()
	uri := mongotest.Database(t)
	primary := mdb.NewPrimary(testtime.Patience())
	client, err := mongo.Connect(options.Client().ApplyURI(uri).SetRegistry(mdb.Registry).SetMonitor(monitor).SetServerMonitor(primary.Monitor()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Disconnect(context.WithoutCancel(t.Context())) })
	s := New(Config[string]{
		Client: client, Clock: NewClock(time.Now), Primary: primary, Database: mongotest.NameIn(t, uri), Self: id.New().String(), Jobs: noJobs{}, Settings: settingNames,
		Use:     func(settings map[string]*Setting) (string, error) { return settings[settingNames[0]].Value, nil },
		Timeout: testtime.Patience(), Heartbeat: heartbeat, Lease: lease, TransactionLife: time.Minute,
	})
	for _, name := range settingNames {
		if _, err := s.Recorded(t.Context(), Layouts{Name: name, Usual: "usual", Data: "data"}, ""); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Join(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Leave)
	return s
}

type noJobs struct{}

func (noJobs) Transaction(ctx context.Context) (context.Context, func()) { return ctx, func() {} }

// ping makes a call.
func ping(t *testing.T, s *Member[string]) error {
	t.Helper()
	return s.DB.Read(t.Context(), "ping", func(ctx context.Context) error { return s.client.Ping(ctx, nil) })
}

// known returns how many documents the server has.
func known(t *testing.T, s *Member[string]) int64 {
	t.Helper()
	n, err := s.collection.CountDocuments(t.Context(), mdb.Doc("_id", s.ID))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

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
		{now.Add(-time.Second).Round(0), true}, // by the wall clock
	} {
		if got := isOver(c.until); got != c.want {
			t.Errorf("%v is over: %v", c.until, got)
		}
	}
}

// TestLeavingUnreachableDatabase: a server whose heartbeats fail does not wait long for the
// removal of its document. Any other server uses the whole time limit.
func TestLeavingUnreachableDatabase(t *testing.T) {
	t.Parallel()
	for name, failing := range map[string]bool{"lost": true, "there": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			limits := make(chan time.Duration, 1)
			s := open(t, &event.CommandMonitor{Started: func(ctx context.Context, e *event.CommandStartedEvent) {
				if c, _ := e.Command.Lookup("delete").StringValueOK(); c == "servers" {
					until, _ := ctx.Deadline()
					limits <- time.Until(until)
				}
			}}, time.Hour, testtime.Patience())
			s.failing.Store(failing)
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			defer cancel()
			s.signOff(ctx)
			if limit := <-limits; failing != (limit <= lostTimeout) {
				t.Errorf("the database has %v", limit)
			}
			s.failing.Store(false)
		})
	}
}

// TestCloseWaitsForOlderEras: a server is known until its last call has ended, even if that belongs
// to an earlier era.
func TestCloseWaitsForOlderEras(t *testing.T) {
	t.Parallel()
	s := open(t, nil, time.Hour, testtime.Patience())
	old := s.Now()
	_, call := s.Enter(t.Context())
	s.mu.Lock()
	s.begin(&Era[string]{Generations: old.Generations})
	s.mu.Unlock()
	left := make(chan struct{})
	go func() {
		defer close(left)
		s.Leave()
	}()
	<-s.stopped
	if n := known(t, s); n != 1 {
		t.Errorf("%d servers are known while a call runs", n)
	}
	select {
	case <-left:
		t.Error("a call is under way, and the server has left")
	default:
	}
	call.Leave()
	<-left
	if n := known(t, s); n != 0 {
		t.Errorf("%d servers are known when all calls have ended", n)
	}
	if err := ping(t, s); err == nil {
		t.Error("a call begins after the last one")
	}
}

// TestCloseWaitsForRunningCalls: a store that is always busy closes when the running calls have
// ended. Earlier it waited for a moment without any calls.
func TestCloseWaitsForRunningCalls(t *testing.T) {
	t.Parallel()
	s := open(t, nil, time.Hour, testtime.Patience())
	var calling sync.WaitGroup
	for range 8 {
		calling.Go(func() {
			for ping(t, s) == nil { //nolint:revive // until it is refused
			}
		})
	}
	s.Leave()
	calling.Wait()
	if n := known(t, s); n != 0 {
		t.Errorf("%d servers are known when all calls have ended", n)
	}
}
