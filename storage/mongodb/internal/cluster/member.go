package cluster

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo"

	"plaza/storage/mongodb/internal/mdb"
)

// Member is a server's part in the agreement of all servers on the settings. Its heartbeat renews a
// lease, and adopts what has changed. Without a lease the server neither writes nor answers,
// because it may have missed a change. So a change of a setting has to wait only for servers whose
// heartbeats arrive.
type Member[L any] struct {
	*roster

	use      func(map[string]*Setting) (L, error)
	stop     context.CancelFunc
	stopped  chan struct{}
	logger   *slog.Logger
	claimed  Versions // the versions to write until the first heartbeat has counted
	outdated func(error)

	mu          sync.Mutex
	known       map[string]*Setting // as the last heartbeat that counted has read them; none before the first
	counted     time.Time           // when that heartbeat ended
	eras        []*Era[L]           // those that have calls; the last is the current one
	writesUntil time.Time
	readsUntil  time.Time
	renewed     chan struct{} // closed by the next heartbeat that succeeds
	left        bool

	full    atomic.Bool // the last heartbeat had no room on the database's disk
	failing atomic.Bool // the log says that heartbeats fail
}

// IsFull reports whether the last heartbeat found the database's disk full.
func (m *Member[L]) IsFull() bool { return m.full.Load() }

// Join adds the server to the list, adopts the settings, and begins the heartbeat and the watch
// over the others.
func (m *Member[L]) Join(ctx context.Context) (err error) {
	if m.user, err = m.authenticatedUser(ctx); err != nil {
		return err
	}
	if err := m.beat(ctx, m.timeout); err != nil {
		return mdb.Translate(ctx, "join servers", err)
	}
	running, stop := context.WithCancel(context.Background()) //nolint:gosec // Stop calls it
	m.stop, m.stopped = stop, make(chan struct{})
	var both sync.WaitGroup
	both.Go(func() { m.run(running) })
	both.Go(func() { m.guard(running) })
	go func() {
		defer close(m.stopped)
		both.Wait()
	}()
	return nil
}

// Leave waits up to 5 s for calls under way, and removes the server from the list.
func (m *Member[L]) Leave() {
	if m.stop == nil {
		return
	}
	m.Stop()
	ctx, cancel := context.WithTimeout(context.Background(), leaveTimeout)
	defer cancel()
	idle := make(chan struct{})
	go func() {
		defer close(idle)
		m.wait()
	}()
	select {
	case <-idle:
		m.signOff(ctx)
	case <-ctx.Done(): // others will find out
	}
}

// signOff removes the server from the list. A database that answers no heartbeat would only delay
// the server's end.
func (m *Member[L]) signOff(ctx context.Context) {
	if m.failing.Load() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, lostTimeout)
		defer cancel()
	}
	_, _ = m.collection.DeleteOne(ctx, mdb.Doc("_id", m.ID))
}

// Stop ends the heartbeats, as a death does: the server's lease runs out.
func (m *Member[L]) Stop() {
	m.stop()
	<-m.stopped
}

// wait refuses calls that come from now on, and waits for those of all eras before.
func (m *Member[L]) wait() {
	for _, e := range m.end() {
		e.calls.Wait() // no more can begin
	}
}

// end begins an era in which nothing can be done, and returns those before it.
func (m *Member[L]) end() []*Era[L] {
	m.mu.Lock()
	defer m.mu.Unlock()
	before := slices.Clone(m.eras)
	last := before[len(before)-1]
	m.eras = append(m.eras, &Era[L]{member: m, Generations: last.Generations, Layouts: last.Layouts, written: last.written, InUse: last.InUse, ended: true})
	m.left = true
	return before
}

// oldest is the oldest era that has calls.
func (m *Member[L]) oldest() *Era[L] {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.eras) == 0 {
		return &Era[L]{Generations: map[string]int{}, written: m.claimed}
	}
	return m.eras[0]
}

// Written are the versions in which documents are written now.
func (m *Member[L]) Written() Versions {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.eras) == 0 {
		return m.claimed
	}
	return m.eras[len(m.eras)-1].written
}

// adopt lets a heartbeat count, unless another one has counted since it began: then what it found
// may be older, and it says false. So heartbeats that count follow each other, whatever the order
// in which they end.
func (m *Member[L]) adopt(ctx context.Context, found findings[L], began time.Time, renewed bool) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.left || !began.After(m.counted) {
		return false
	}
	m.counted = time.Now()
	m.enterEra(found.era, renewed)
	m.readsUntil = began.Add(m.lease)
	if renewed {
		m.writesUntil = m.readsUntil
	}
	m.tell(ctx, m.known, found.settings)
	m.known = found.settings
	close(m.renewed)
	m.renewed = make(chan struct{})
	return true
}

// enterEra begins a new era if a setting or a written version has changed, or if the lease was
// over: what began before that must end. m.mu is held.
func (m *Member[L]) enterEra(e *Era[L], renewed bool) {
	first := len(m.eras) == 0
	lapsed := !first && renewed && isOver(m.writesUntil)
	for _, old := range m.eras {
		old.ended = old.ended || lapsed
	}
	if first || lapsed || e.differs(m.eras[len(m.eras)-1]) {
		m.begin(e)
	}
}

// begin makes an era the current one; those before it are forgotten when their calls have ended.
// m.mu is held.
func (m *Member[L]) begin(e *Era[L]) {
	if len(m.eras) > 0 {
		old := m.eras[len(m.eras)-1]
		go func() {
			old.calls.Wait() // no more can begin
			m.mu.Lock()
			m.eras = slices.DeleteFunc(m.eras, func(e *Era[L]) bool { return e == old })
			m.mu.Unlock()
			m.Hurry()
		}()
	}
	m.eras = append(m.eras, e)
}

// Now is the current era.
func (m *Member[L]) Now() *Era[L] {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.eras[len(m.eras)-1]
}

// Enter begins a call: it belongs to the current era.
func (m *Member[L]) Enter(ctx context.Context) (context.Context, mdb.Call) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.eras[len(m.eras)-1]
	e.calls.Add(1)
	ctx = e.Context(ctx)
	return ctx, e
}

// ClaimVersions refuses a database that a newer Plaza has upgraded. A database of an older release
// than the previous one is raised to that; a new one, without users, gets the newest versions
// immediately.
func (m *Member[L]) ClaimVersions(ctx context.Context, users *mongo.Collection) error {
	ctx, cancel := context.WithTimeout(ctx, m.timeout)
	defer cancel()
	recorded, err := m.ReadVersions(ctx)
	if err != nil {
		return mdb.Translate(ctx, "settings", err)
	}
	if err := m.Edition.admits(recorded); err != nil {
		return err
	}
	least := m.Edition.Previous
	if recorded.Newest == nil {
		old, err := mdb.HasDocuments(ctx, users)
		if err != nil {
			return mdb.Translate(ctx, "users", err)
		}
		if !old {
			least = m.Edition.Newest
		}
	}
	if err := m.raiseVersions(ctx, "newest", least); err != nil {
		return mdb.Translate(ctx, "settings", err)
	}
	if recorded, err = m.ReadVersions(ctx); err != nil {
		return mdb.Translate(ctx, "settings", err)
	}
	m.claimed = recorded.Newest // the first heartbeat says what this server writes
	return nil
}
