package cluster

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/storage/mongodb/internal/mdb"
	"plaza/storage/mongodb/internal/wait"
)

// errStaleBeat means that the server has adopted another heartbeat since this one began.
var errStaleBeat = errors.New("a later heartbeat has overtaken this one")

// wrongClock is the difference between the clocks of a server and of the database that operators
// are warned of.
const wrongClock = 10 * time.Second

// run renews the lease until ctx ends. A heartbeat that hangs, for example on a dead connection,
// does not delay the next one, which takes another connection.
func (m *Member[L]) run(ctx context.Context) {
	var beats sync.WaitGroup
	defer beats.Wait()
	for ctx.Err() == nil {
		wait.For(ctx, m.Heartbeat, m.changed)
		ended := make(chan struct{})
		beats.Go(func() {
			defer close(ended)
			m.tryBeat(ctx)
		})
		wait.For(ctx, m.lease/8, ended) // a beat times out after half a lease, so at most five run concurrently
	}
}

func (m *Member[L]) tryBeat(ctx context.Context) {
	err := m.beat(ctx, m.lease/2) // so that there is time for another
	switch {
	case errors.Is(err, ErrTooNew):
		m.retire(ctx, err)
		m.stop()
	case errors.Is(err, errStaleBeat) || ctx.Err() != nil:
	default:
		m.noteRoom(ctx, err)
		m.noteFailure(ctx, err)
	}
}

// noteFailure logs when heartbeats begin to fail, and when they succeed again. A full disk has its
// own message.
func (m *Member[L]) noteFailure(ctx context.Context, err error) {
	switch {
	case mdb.IsNoRoom(err):
	case err != nil && !m.failing.Swap(true):
		m.logger.WarnContext(ctx, "the server's heartbeat fails", "error", err)
	case err == nil && m.failing.Swap(false):
		m.logger.InfoContext(ctx, "the server's heartbeat is back")
	}
}

// noteRoom records whether the database had room for a heartbeat, and logs changes.
func (m *Member[L]) noteRoom(ctx context.Context, err error) {
	switch full := mdb.IsNoRoom(err); {
	case full && !m.full.Swap(true):
		m.logger.ErrorContext(ctx, "the database's disk is full: nothing can be stored until there is room, reads go on", "error", err)
	case err == nil && m.full.Swap(false):
		m.logger.InfoContext(ctx, "the database's disk has room again")
	}
}

// findings is what one heartbeat has read.
type findings[L any] struct {
	settings map[string]*Setting
	era      *Era[L] // of these settings
}

// beat renews the leases and adopts changed settings. It stores the heartbeat before it reads the
// settings, so later changes wait for this server. It returns errStaleBeat if the server has
// adopted a later heartbeat.
func (m *Member[L]) beat(ctx context.Context, within time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	began := time.Now()
	notRenewed := m.Renew(ctx)
	found, err := m.find(ctx)
	switch {
	case errors.Is(err, ErrTooNew):
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

// find reads what the servers have agreed on.
func (m *Member[L]) find(ctx context.Context) (found findings[L], err error) {
	recorded, err := m.ReadVersions(ctx)
	if err != nil {
		return found, err
	}
	if err := m.Edition.admits(recorded); err != nil {
		return found, err
	}
	if found.settings, err = m.ReadSettings(ctx); err != nil {
		return found, err
	}
	found.era, err = m.NewEra(found.settings, recorded.Newest)
	return found, err
}

// isStale reports whether the server has adopted another heartbeat since this one began.
func (m *Member[L]) isStale(began time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return !began.After(m.counted)
}

// Renew stores a heartbeat: the description of the server, and the oldest generations and versions
// that its calls still use.
func (m *Member[L]) Renew(ctx context.Context) error {
	oldest := m.oldest()
	d := mdb.Doc("v", mdb.FirstVersion, "process", m.process, "app", AppName(m.ID), "user", m.user,
		"adopted", oldest.Generations, "knows", m.Edition.Newest, "writes", oldest.written, "lease", m.lease.Milliseconds())
	update := mdb.Doc("$set", d, "$currentDate", mdb.Doc("at", true))
	err := m.put(ctx, update)
	if errors.Is(err, mongo.ErrNoDocuments) {
		// The first update is no upsert: a heartbeat that Leave has cancelled may still arrive
		// after the document was removed.
		err = m.put(ctx, update, options.FindOneAndUpdate().SetUpsert(true))
	}
	return err
}

// put updates the description of the server, and reads the database's time from it.
func (m *Member[L]) put(ctx context.Context, update bson.D, o ...options.Lister[options.FindOneAndUpdateOptions]) error {
	var stored struct {
		At time.Time `bson:"at"`
	}
	began := m.clock.machine()
	o = append(o, options.FindOneAndUpdate().SetReturnDocument(options.After).SetProjection(mdb.Doc("at", 1)))
	err := m.collection.FindOneAndUpdate(ctx, mdb.Doc("_id", m.ID), update, o...).Decode(&stored)
	if err != nil {
		return err
	}
	m.clock.learn(stored.At, began, m.clock.machine())
	m.noteClock(ctx)
	return nil
}

// noteClock logs when the server's clock has become wrong, or right again.
func (m *Member[L]) noteClock(ctx context.Context) {
	ahead := m.clock.Ahead()
	switch wrong := ahead.Abs() >= wrongClock; {
	case wrong && !m.wrongClock.Swap(true):
		m.logger.WarnContext(ctx, "this machine's clock differs from the database's, whose time the server uses: correct one of them", "databaseAheadMs", ahead.Milliseconds())
	case !wrong && m.wrongClock.Swap(false):
		m.logger.InfoContext(ctx, "this machine's clock agrees with the database's again")
	}
}

// tell logs changes of settings for the operator.
func (m *Member[L]) tell(ctx context.Context, before, now map[string]*Setting) {
	for name, d := range before {
		m.tellChange(ctx, d, now[name])
	}
}

// tellChange logs the change of a setting for the operator. The server may have missed phases.
func (m *Member[L]) tellChange(ctx context.Context, before, now *Setting) {
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

// retire stops the server permanently, because it does not know the versions that the others write.
// Calls that have begun do not write any more.
func (m *Member[L]) retire(ctx context.Context, why error) {
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
