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

// Member is one server among all that use a database. Its heartbeat renews a lease, and adopts
// changed settings. Without a lease the server neither writes nor answers, because it may have
// missed a change. So a change of a setting only has to wait for servers that send heartbeats.
type Member[L any] struct {
	*roster

	clock    *Clock
	use      func(map[string]*Setting) (L, error)
	stop     context.CancelFunc
	stopped  chan struct{}
	logger   *slog.Logger
	claimed  Versions // the versions to write until the first heartbeat was adopted
	outdated func(error)

	mu          sync.Mutex
	known       map[string]*Setting // as the last adopted heartbeat read them; none before the first
	counted     time.Time           // when that heartbeat ended
	eras        []*Era[L]           // those that have running calls; the last one is the current era
	writesUntil time.Time
	readsUntil  time.Time
	renewed     chan struct{} // closed by the next heartbeat that succeeds
	left        bool

	full       atomic.Bool // the last heartbeat found the database's disk full
	failing    atomic.Bool // the failure of heartbeats was logged
	wrongClock atomic.Bool // the difference between the clocks was logged
}

// IsFull reports whether the last heartbeat found the database's disk full.
func (m *Member[L]) IsFull() bool { return m.full.Load() }

// Join adds the server to the list, adopts the settings, and starts to send heartbeats and to watch
// those of the others.
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

// Leave waits up to 5 s for calls to end, and removes the server from the list.
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
	case <-ctx.Done(): // the others will notice the missing heartbeats
	}
}

// signOff removes the server from the list. It does not wait long for a database that has not
// answered the last heartbeats.
func (m *Member[L]) signOff(ctx context.Context) {
	if m.failing.Load() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, lostTimeout)
		defer cancel()
	}
	_, _ = m.collection.DeleteOne(ctx, mdb.Doc("_id", m.ID))
}

// Stop ends the heartbeats as a crash would: the server's lease runs out.
func (m *Member[L]) Stop() {
	m.stop()
	<-m.stopped
}

// wait rejects new calls, and waits for those of all earlier eras.
func (m *Member[L]) wait() {
	for _, e := range m.end() {
		e.calls.Wait() // no further calls can begin
	}
}

// end begins an era in which calls fail, and returns the earlier eras.
func (m *Member[L]) end() []*Era[L] {
	m.mu.Lock()
	defer m.mu.Unlock()
	before := slices.Clone(m.eras)
	last := before[len(before)-1]
	m.eras = append(m.eras, &Era[L]{member: m, Generations: last.Generations, Layouts: last.Layouts, written: last.written, InUse: last.InUse, ended: true})
	m.left = true
	return before
}

// oldest returns the oldest era that has calls.
func (m *Member[L]) oldest() *Era[L] {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.eras) == 0 {
		return &Era[L]{Generations: map[string]int{}, written: m.claimed}
	}
	return m.eras[0]
}

// Written returns the versions in which documents are written now.
func (m *Member[L]) Written() Versions {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.eras) == 0 {
		return m.claimed
	}
	return m.eras[len(m.eras)-1].written
}

// adopt makes the findings of a heartbeat current, and renews the leases. It returns false if
// another heartbeat was adopted since this one began, because its findings may be older. So adopted
// heartbeats follow one another, whatever the order in which they end.
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

// enterEra begins a new era if a setting or a written version has changed, or if the lease had
// ended: earlier calls must not write any more. The caller holds m.mu.
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

// begin makes an era the current one. Earlier eras are removed when their calls have ended. The
// caller holds m.mu.
func (m *Member[L]) begin(e *Era[L]) {
	if len(m.eras) > 0 {
		old := m.eras[len(m.eras)-1]
		go func() {
			old.calls.Wait() // no further calls can begin
			m.mu.Lock()
			m.eras = slices.DeleteFunc(m.eras, func(e *Era[L]) bool { return e == old })
			m.mu.Unlock()
			m.Hurry()
		}()
	}
	m.eras = append(m.eras, e)
}

// Now returns the current era.
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

// ClaimVersions returns an error if a newer Plaza has upgraded the database. It raises the versions
// of a database that is older than the previous release to those of that release. A new database,
// without users, gets the newest versions immediately.
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
	m.claimed = recorded.Newest // the first heartbeat stores what this server writes
	return nil
}
