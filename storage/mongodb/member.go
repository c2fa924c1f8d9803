package mongodb

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
	"plaza/storage/mongodb/internal/wait"
)

const (
	// defaultHeartbeat is how often a server says that it lives, and looks for changed settings.
	defaultHeartbeat = time.Second
	// defaultLease is how long it may act without a heartbeat. After a crash the others wait that long where
	// they have to be sure that the server does nothing more.
	defaultLease = 8 * time.Second
	// defaultTransactionLife is the database's transactionLifetimeLimitSeconds.
	defaultTransactionLife = time.Minute
	// silentLife is how long a server is known that died: far longer than anything that it has begun can last.
	silentLife = 24 * time.Hour
)

// serverDoc is a document of servers: one open Store. It is there from before the Store reads its settings until after its last
// write; who goes on without the Store must be sure that it is gone (migration.agree).
type serverDoc struct {
	ID      string         `bson:"_id"`
	Version int            `bson:"v"`
	Process string         `bson:"process"` // for people: host and process id
	App     string         `bson:"app"`     // what its connections are called; "" before Plaza told them apart
	User    string         `bson:"user"`    // the MongoDB user; "" without access control
	Adopted map[string]int `bson:"adopted"` // by setting: the oldest generation that calls still work by
	Knows   versions       `bson:"knows"`   // the newest versions of documents that it reads; none before servers told
	Writes  versions       `bson:"writes"`  // the oldest versions in which calls still write documents
	Lease   int64          `bson:"lease"`   // in ms: how long after At it may still do something
	At      time.Time      `bson:"at"`      // the last heartbeat, by the database's clock
	Silence int64          `bson:"silence"` // in ms: the time since then; only when it is read
}

// describe is for people.
func (d *serverDoc) describe() string {
	if d.Silence < d.Lease {
		return d.Process
	}
	return fmt.Sprintf("%s, silent for %d s", d.Process, d.Silence/1000)
}

// silent is how long the server has not been heard, once that are several heartbeats; or 0.
func (d *serverDoc) silent() time.Duration {
	if d.Silence < d.Lease/4 {
		return 0
	}
	return time.Duration(d.Silence) * time.Millisecond
}

// errStaleBeat: another heartbeat has counted since this one began.
var errStaleBeat = errors.New("a later heartbeat has overtaken this one")

// member is a Store's part in the agreement of all servers on the settings. Its heartbeat renews a lease, and adopts what has
// changed. Without a lease the Store neither writes nor answers, because it may have missed a change; so whoever
// changes a setting has to wait only for those who are heard.
type member struct {
	store            *Store
	servers          *mongo.Collection
	id, process      string
	user             string // the MongoDB user of this server; "" without access control
	heartbeat, lease time.Duration
	changed          chan struct{} // asks for a heartbeat at once
	stop             context.CancelFunc
	stopped          chan struct{}
	logger           *slog.Logger
	claimed          versions // the versions to write until the first heartbeat has counted
	outdated         func(error)

	mu          sync.Mutex
	settings    map[string]*settingDoc // as the last heartbeat that counted has read them; none before the first
	counted     time.Time              // when that heartbeat ended
	eras        []*era                 // those that have calls; the last is the current one
	writesUntil time.Time
	readsUntil  time.Time
	renewed     chan struct{} // closed by the next heartbeat that succeeds
	left        bool

	full    atomic.Bool // the last heartbeat had no room on the database's disk
	failing atomic.Bool // the log says that heartbeats fail
}

func newMember(s *Store, servers *mongo.Collection, self string, o Options) *member {
	host, _ := os.Hostname() // for people alone
	return &member{
		store: s, servers: servers, id: self, process: fmt.Sprintf("%s, process %d", host, os.Getpid()),
		heartbeat: orDefault(o.Heartbeat, defaultHeartbeat), lease: orDefault(o.Lease, defaultLease),
		changed: make(chan struct{}, 1), renewed: make(chan struct{}),
		logger: cmp.Or(o.Logger, slog.New(slog.DiscardHandler)), outdated: o.Outdated,
	}
}

// join makes the server known, adopts the settings, and begins the heartbeat and the watch over the others.
func (m *member) join(ctx context.Context) (err error) {
	if m.user, err = m.store.authenticatedUser(ctx); err != nil {
		return err
	}
	if err := m.beat(ctx, m.store.timeout); err != nil {
		return mdb.Translate(ctx, "join servers", err)
	}
	running, stop := context.WithCancel(context.Background())
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

// leave waits for calls under way, but not for ever, and makes the server unknown.
func (m *member) leave() {
	if m.stop == nil {
		return
	}
	m.stop()
	<-m.stopped
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
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

// signOff makes the server unknown. A database that answers no heartbeat would only delay the server's end.
func (m *member) signOff(ctx context.Context) {
	if m.failing.Load() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, lostTimeout)
		defer cancel()
	}
	_, _ = m.servers.DeleteOne(ctx, mdb.Doc("_id", m.id))
}

// wait refuses calls that come from now on, and waits for those of all eras before.
func (m *member) wait() {
	for _, e := range m.end() {
		e.calls.Wait() // no more can begin
	}
}

// end begins an era in which nothing can be done, and returns those before it.
func (m *member) end() []*era {
	m.mu.Lock()
	defer m.mu.Unlock()
	before := slices.Clone(m.eras)
	last := before[len(before)-1]
	m.eras = append(m.eras, &era{member: m, generations: last.generations, layouts: last.layouts, written: last.written, threads: last.threads, feeds: last.feeds, graph: last.graph, ended: true})
	m.left = true
	return before
}

// run renews the lease until ctx ends. A heartbeat that hangs, on a dead connection for example, does not delay the next ones: each
// takes another connection.
func (m *member) run(ctx context.Context) {
	var beats sync.WaitGroup
	defer beats.Wait()
	for ctx.Err() == nil {
		wait.For(ctx, m.heartbeat, m.changed)
		ended := make(chan struct{})
		beats.Go(func() {
			defer close(ended)
			m.tryBeat(ctx)
		})
		wait.For(ctx, m.lease/8, ended) // a beat has half a lease, so at most five run at once
	}
}

func (m *member) tryBeat(ctx context.Context) {
	err := m.beat(ctx, m.lease/2) // so that there is time for another
	switch {
	case errors.Is(err, errTooNew):
		m.retire(ctx, err)
		m.stop()
	case errors.Is(err, errStaleBeat) || ctx.Err() != nil:
	default:
		m.noteRoom(ctx, err)
		m.noteFailure(ctx, err)
	}
}

// noteFailure logs when heartbeats begin to fail, and when they succeed again. A full disk has its own message.
func (m *member) noteFailure(ctx context.Context, err error) {
	switch {
	case mdb.IsNoRoom(err):
	case err != nil && !m.failing.Swap(true):
		m.logger.WarnContext(ctx, "the server's heartbeat fails", "error", err)
	case err == nil && m.failing.Swap(false):
		m.logger.InfoContext(ctx, "the server's heartbeat is back")
	}
}

// noteRoom takes notice of whether the database had room for a heartbeat.
func (m *member) noteRoom(ctx context.Context, err error) {
	switch full := mdb.IsNoRoom(err); {
	case full && !m.full.Swap(true):
		m.logger.ErrorContext(ctx, "the database's disk is full: nothing can be stored until there is room, reads go on", "error", err)
	case err == nil && m.full.Swap(false):
		m.logger.InfoContext(ctx, "the database's disk has room again")
	}
}

// hurry asks for a heartbeat at once.
func (m *member) hurry() {
	select {
	case m.changed <- struct{}{}:
	default:
	}
}

// findings are what one heartbeat has read.
type findings struct {
	settings map[string]*settingDoc
	era      *era // that the settings stand for
}

// beat renews the leases and adopts what has changed. The server says that it is there before it reads the settings: who changes
// one afterwards waits for it. errStaleBeat: a later heartbeat knows better.
func (m *member) beat(ctx context.Context, within time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	began := time.Now()
	notRenewed := m.renew(ctx)
	found, err := m.find(ctx)
	switch {
	case errors.Is(err, errTooNew):
		return err
	case m.isStale(began):
		return errStaleBeat
	case err != nil:
		return cmp.Or(notRenewed, err)
	}
	if !m.adopt(ctx, found, began, notRenewed == nil) {
		return errStaleBeat
	}
	return notRenewed
}

// find reads what servers agree on.
func (m *member) find(ctx context.Context) (found findings, err error) {
	recorded, err := m.store.readVersions(ctx)
	if err != nil {
		return found, err
	}
	if err := m.store.edition.admits(recorded); err != nil {
		return found, err
	}
	if found.settings, err = m.store.readSettings(ctx); err != nil {
		return found, err
	}
	found.era, err = m.store.newEra(found.settings, recorded.Newest)
	return found, err
}

// isStale says whether another heartbeat has counted since this one began.
func (m *member) isStale(began time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return !began.After(m.counted)
}

// retire ends the server's part for good: it knows too little of what the others write. Calls under way do not write any more.
func (m *member) retire(ctx context.Context, why error) {
	m.mu.Lock()
	if m.left {
		m.mu.Unlock()
		return
	}
	for _, e := range m.eras {
		e.ended = true
	}
	m.left, m.readsUntil, m.writesUntil = true, time.Time{}, time.Time{}
	close(m.renewed)
	m.renewed = make(chan struct{})
	m.mu.Unlock()
	m.logger.ErrorContext(ctx, "the upgrade to a newer Plaza is finished: this server has stopped", "error", why)
	if m.outdated != nil {
		m.outdated(why)
	}
}

// tell logs what changed settings mean.
func (m *member) tell(ctx context.Context, before, now map[string]*settingDoc) {
	for name, d := range before {
		m.tellChange(ctx, d, now[name])
	}
}

// tellChange logs what a changed setting means for whoever runs the server. It may have missed phases.
func (m *member) tellChange(ctx context.Context, before, now *settingDoc) {
	logger := m.logger.With("of", now.Name, "layout", now.Value)
	if before.Value != now.Value {
		logger.InfoContext(ctx, "another layout is read now", "before", before.Value)
	}
	switch {
	case before.Move == nil || now.Move != nil:
	case now.Value == before.Move.To:
		logger.InfoContext(ctx, "the migration is finished", "removed", before.Move.From)
	default:
		logger.InfoContext(ctx, "the migration was backed out of", "removed", before.Move.To)
	}
}

func (m *member) renew(ctx context.Context) error {
	oldest := m.oldest()
	d := mdb.Doc("v", mdb.FirstVersion, "process", m.process, "app", appName(m.id), "user", m.user,
		"adopted", oldest.generations, "knows", m.store.edition.newest, "writes", oldest.written, "lease", m.lease.Milliseconds())
	update := mdb.Doc("$set", d, "$currentDate", mdb.Doc("at", true))
	renewed, err := m.servers.UpdateOne(ctx, mdb.Doc("_id", m.id), update)
	if err == nil && renewed.MatchedCount == 0 {
		// Only now an upsert: a heartbeat that leave has cancelled may still arrive, after the document was removed.
		_, err = m.servers.UpdateOne(ctx, mdb.Doc("_id", m.id), update, options.UpdateOne().SetUpsert(true))
	}
	return err
}

// oldest is the oldest era that has calls.
func (m *member) oldest() *era {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.eras) == 0 {
		return &era{generations: map[string]int{}, written: m.claimed}
	}
	return m.eras[0]
}

// written are the versions in which documents are written now.
func (m *member) written() versions {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.eras) == 0 {
		return m.claimed
	}
	return m.eras[len(m.eras)-1].written
}

// adopt lets a heartbeat count, unless another one has counted since it began: then what it found may be older, and it says
// false. So heartbeats that count follow each other, whatever the order in which they end.
func (m *member) adopt(ctx context.Context, found findings, began time.Time, renewed bool) bool {
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
	m.tell(ctx, m.settings, found.settings)
	m.settings = found.settings
	close(m.renewed)
	m.renewed = make(chan struct{})
	return true
}

// enterEra begins a new era if a setting or a written version has changed, or if the lease was over: what began before that must
// end. m.mu is held.
func (m *member) enterEra(e *era, renewed bool) {
	first := len(m.eras) == 0
	lapsed := !first && renewed && isOver(m.writesUntil)
	for _, old := range m.eras {
		old.ended = old.ended || lapsed
	}
	if first || lapsed || e.differs(m.eras[len(m.eras)-1]) {
		m.begin(e)
	}
}

// begin makes an era the current one; those before it are forgotten when their calls have ended. m.mu is held.
func (m *member) begin(e *era) {
	if len(m.eras) > 0 {
		old := m.eras[len(m.eras)-1]
		go func() {
			old.calls.Wait() // no more can begin
			m.mu.Lock()
			m.eras = slices.DeleteFunc(m.eras, func(e *era) bool { return e == old })
			m.mu.Unlock()
			m.hurry()
		}()
	}
	m.eras = append(m.eras, e)
}

// now is the current era.
func (m *member) now() *era {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.eras[len(m.eras)-1]
}

// Enter begins a call: it belongs to the current era.
func (m *member) Enter(ctx context.Context) (context.Context, mdb.Call) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.eras[len(m.eras)-1]
	e.calls.Add(1)
	return inEra(ctx, e), e
}

// AwaitWrites waits until the server may write: a database that has stalled delays a call, and does not fail it.
// mdb.ErrLeaseOver: no heartbeat has succeeded for electionTime, or the store is closed.
// social.ErrNoRoom: the heartbeats find the database's disk full.
func (m *member) AwaitWrites(ctx context.Context) error {
	if m.full.Load() {
		return social.ErrNoRoom
	}
	return m.await(ctx, &m.writesUntil)
}

// AwaitReads does the same for reads.
func (m *member) AwaitReads(ctx context.Context) error { return m.await(ctx, &m.readsUntil) }

func (m *member) await(ctx context.Context, until *time.Time) error {
	ready, renewed := m.isReady(until)
	if ready {
		return nil
	}
	m.hurry()
	ctx, cancel := context.WithTimeout(ctx, electionTime)
	defer cancel()
	for !ready && renewed != nil {
		select {
		case <-renewed:
			ready, renewed = m.isReady(until)
		case <-ctx.Done():
			renewed = nil
		}
	}
	if !ready {
		return mdb.ErrLeaseOver
	}
	return nil
}

// isReady says whether a lease lasts, or else what is closed when it may: nil once the store is closed.
func (m *member) isReady(until *time.Time) (ready bool, renewed <-chan struct{}) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.left {
		return false, nil
	}
	return !isOver(*until), m.renewed
}

// mayWrite is mdb.ErrLeaseOver where a call of the era must not write any more.
func (m *member) mayWrite(e *era) error { return m.may(e, &m.writesUntil) }

// mayRead is mdb.ErrLeaseOver where what a call of the era has read may be out of date. Who can still look for changes may read, also
// when no heartbeat can be written.
func (m *member) mayRead(e *era) error { return m.may(e, &m.readsUntil) }

func (m *member) may(e *era, until *time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if e.ended || isOver(*until) {
		return mdb.ErrLeaseOver
	}
	return nil
}

// isOver says whether a moment has passed, by the monotonic clock or by the wall's: the first stands still while a machine is suspended,
// and others see a silent server all that time.
func isOver(until time.Time) bool {
	now := time.Now()
	return now.After(until) || now.Round(0).After(until.Round(0))
}
