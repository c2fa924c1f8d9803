package mongodb

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/fault"
	"plaza/id"
	"plaza/social"
	"plaza/storage/mongodb/internal/cluster"
	"plaza/storage/mongodb/internal/mdb"
)

// Goal is how far a migration is to go.
type Goal string

// The goals of a migration.
const (
	GoalSwitch  Goal = "switch"   // the new layout is read, and both are kept in step
	GoalFinish  Goal = "finish"   // the old layout is gone
	GoalBackOut Goal = "back out" // the new layout is gone
)

// Migration says what to move.
type Migration struct {
	Subject Subject
	// To is the layout to move to. With GoalFinish and GoalBackOut it may be "": whatever is under
	// way.
	To   string
	Goal Goal
	// Rate is how many posts (of comments), or users (of feeds and the graph), are gone through in
	// a second at most. 0: unlimited.
	Rate int
	// Progress is called now and then with the state of the migration. Optional.
	Progress func(MigrationState)
	// Waiting is called now and then with the processes that have not adopted the next step yet.
	// Optional.
	Waiting func(processes []string)
}

// MigrationState is the layout of a subject, and the progress of its migration.
type MigrationState struct {
	Subject Subject
	Layout  string // that is read
	From    string // "": no migration is under way
	To      string
	Phase   string
	Done    int           // how many posts, or users, the phase is through
	Total   int           // of about this number
	Fixed   int           // how many copies differed, and were made again
	Since   time.Time     // when the phase began
	Driver  string        // the process that drives it; "": none
	Silent  time.Duration // how long its heartbeats have been missing, if that is too long for a running process; or 0
}

// mover is how a subject is moved.
type mover interface {
	// prepare makes a layout empty and ready to be written. No server uses it.
	prepare(ctx context.Context, m *migration, layout string) error
	// count is about how many entries copy, compare and remove go through.
	count(ctx context.Context) (int, error)
	// copy puts into the new layout what is not there yet. All servers keep both in step.
	copy(ctx context.Context, m *migration) error
	// compare compares the two, and replaces copies that differ.
	compare(ctx context.Context, m *migration) error
	// remove removes a layout that no server reads.
	remove(ctx context.Context, m *migration, layout string) error
}

// migration drives a setting from phase to phase.
type migration struct {
	Migration
	s       *Store
	setting cluster.Layouts
	mover   mover
	d       *cluster.Setting // as this process has last read or written it
	pace    pace
	noted   time.Time
	fixed   atomic.Int64 // copies that were made again since the last note
}

// errOvertaken: this process was silent for so long that another one goes on.
var errOvertaken = fault.Refusal("another process has taken the migration over")

// Migrate moves comments, feeds or the follower graph from one layout to another, as far as the
// goal says, while servers go on. It can be stopped, or killed, at any time, and goes on where it
// was when it is called again. Its errors are for people.
func (s *Store) Migrate(ctx context.Context, what Migration) error {
	m, err := s.newMigration(what)
	if err != nil {
		return err
	}
	if err := m.claim(ctx); err != nil {
		return err
	}
	return errors.Join(m.drive(ctx), m.release(ctx))
}

func (s *Store) newMigration(what Migration) (*migration, error) {
	m := &migration{Migration: what, s: s}
	m.pace = newPace(m.Rate, m.together())
	switch what.Subject {
	case MigrateComments:
		m.setting, m.mover = commentsSetting(), threadMover{s}
	case MigrateFeeds:
		m.setting, m.mover = feedsSetting(), feedMover{s}
	case MigrateGraph:
		m.setting, m.mover = graphSetting(), graphMover{s}
	default:
		return nil, fmt.Errorf("%q cannot be moved", what.Subject)
	}
	return m, m.setting.Check(what.To)
}

// refusal is why a setting cannot go where it is wanted.
func (m *migration) refusal(d *cluster.Setting) error {
	name, move := d.Name, d.Move
	switch {
	case move == nil && m.To == "":
		return fmt.Errorf("no migration of %s is under way: the layout is %q", name, d.Value)
	case move == nil && m.Goal == GoalBackOut:
		return fmt.Errorf("no migration of %s is under way, so there is nothing to back out of: the layout is %q", name, d.Value)
	case move == nil && m.To == d.Value:
		return fmt.Errorf("this database keeps its %s in the layout %q already", name, d.Value)
	case move == nil:
		return nil
	case m.To != "" && m.To != move.To:
		return m.blocked(move, MigrationUnderWay)
	case m.Goal == GoalBackOut && move.Phase == cluster.PhaseFinishing:
		return m.blocked(move, MigrationPastReturn)
	case m.Goal == GoalSwitch && move.Phase == cluster.PhaseFinishing:
		return m.blocked(move, MigrationFinishing)
	case m.Goal != GoalBackOut && (move.Phase == cluster.PhaseReturning || move.Phase == cluster.PhaseUndoing):
		return m.blocked(move, MigrationBackingOut)
	case m.Goal == GoalFinish && m.To == "" && move.Phase != cluster.PhaseSwitched && move.Phase != cluster.PhaseFinishing:
		return m.blocked(move, MigrationNotSwitched)
	}
	return nil
}

// blocked is a refusal because of the migration that is under way.
func (m *migration) blocked(move *cluster.Move, reason MigrationReason) error {
	return &MigrationError{Subject: m.Subject, From: move.From, To: move.To, Wanted: m.To, Reason: reason}
}

// claim makes this process the one that drives the setting.
func (m *migration) claim(ctx context.Context) error {
	for {
		d, err := m.read(ctx)
		if err != nil {
			return err
		}
		if err := m.refusal(d); err != nil {
			return err
		}
		alive, err := m.s.member.IsAlive(ctx, d.Driver, nil)
		if err != nil {
			return err
		}
		if alive != nil {
			return fmt.Errorf("another process is moving %s just now (%s)", d.Name, alive.Process)
		}
		taken := mdb.Doc("_id", d.Name, "driver", mdb.Doc("$in", bson.A{d.Driver, nil}), "generation", mdb.Doc("$in", bson.A{d.Generation, nil}))
		err = m.update(ctx, taken, mdb.Doc("$set", mdb.Doc("driver", m.s.member.ID)))
		if !errors.Is(err, errOvertaken) {
			return err
		}
	}
}

// release lets others drive the setting.
func (m *migration) release(ctx context.Context) error {
	ctx, cancel := m.s.db.Limit(context.WithoutCancel(ctx))
	defer cancel()
	_, err := m.s.settings.UpdateOne(ctx, mdb.Doc("_id", m.setting.Name, "driver", m.s.member.ID), mdb.Doc("$unset", mdb.Doc("driver", 1)))
	return mdb.Translate(ctx, "release the migration", err)
}

// read reads the setting.
func (m *migration) read(ctx context.Context) (d *cluster.Setting, err error) {
	err = m.s.db.Read(ctx, "settings", func(ctx context.Context) error {
		all, err := m.s.member.ReadSettings(ctx)
		d = all[m.setting.Name]
		return err
	})
	return d, err
}

// update changes the setting where it is as the filter says. errOvertaken: it is not.
func (m *migration) update(ctx context.Context, filter, update bson.D) error {
	return m.s.db.Read(ctx, "change a setting", func(ctx context.Context) error {
		var d cluster.Setting
		err := m.s.settings.FindOneAndUpdate(ctx, filter, update, options.FindOneAndUpdate().SetReturnDocument(options.After)).Decode(&d)
		if errors.Is(err, mongo.ErrNoDocuments) {
			return errOvertaken
		}
		if err == nil {
			m.d = &d
		}
		return err
	})
}

// mine matches the setting as long as no other process has changed it.
func (m *migration) mine() bson.D {
	return mdb.Doc("_id", m.setting.Name, "driver", m.s.member.ID, "generation", mdb.Doc("$in", bson.A{m.d.Generation, nil}))
}

// enter begins a phase. Where servers have something else to do then, it is a new generation.
func (m *migration) enter(ctx context.Context, p cluster.Phase) error {
	total, err := m.mover.count(ctx)
	if err != nil {
		return err
	}
	move := cluster.Move{From: m.d.Value, To: m.To}
	if m.d.Move != nil {
		move = *m.d.Move
	}
	move.Phase, move.At, move.Done, move.Total, move.Since = p, "", 0, total, time.Now()
	generation := m.d.Generation + 1
	if p == cluster.PhaseComparing {
		generation = m.d.Generation
	}
	return m.set(ctx, mdb.Doc("$set", mdb.Doc("value", move.Value(p), "generation", generation, "move", move)))
}

// end is the end of the migration.
func (m *migration) end(ctx context.Context) error {
	return m.set(ctx, mdb.Doc("$set", mdb.Doc("generation", m.d.Generation+1), "$unset", mdb.Doc("move", 1)))
}

// set changes the setting, and lets this process adopt it immediately.
func (m *migration) set(ctx context.Context, update bson.D) error {
	m.noted = time.Now()
	defer m.s.member.Hurry()
	return m.update(ctx, m.mine(), update)
}

// drive goes from phase to phase. Before anything is done in one, all servers have agreed on it.
func (m *migration) drive(ctx context.Context) error {
	for {
		if err := m.agree(ctx); err != nil {
			return err
		}
		done, err := m.step(ctx)
		if err != nil || done {
			return err
		}
	}
}

// step does what is due in the phase, and enters the next one; or says that the goal is reached.
func (m *migration) step(ctx context.Context) (done bool, err error) {
	move := m.d.Move
	switch {
	case move == nil && m.Goal == GoalBackOut, move == nil && (m.To == "" || m.To == m.d.Value):
		return true, nil
	case move == nil:
		if err := m.mover.prepare(ctx, m, m.To); err != nil {
			return false, err
		}
		return false, m.enter(ctx, cluster.PhaseAnnounced)
	case m.Goal == GoalBackOut:
		return false, m.stepBack(ctx)
	}
	switch move.Phase {
	case cluster.PhaseAnnounced:
		return false, m.enter(ctx, cluster.PhaseCopying)
	case cluster.PhaseCopying:
		return false, m.then(ctx, m.mover.copy(ctx, m), cluster.PhaseComparing)
	case cluster.PhaseComparing:
		return false, m.then(ctx, m.mover.compare(ctx, m), cluster.PhaseSwitched)
	case cluster.PhaseSwitched:
		if m.Goal == GoalSwitch {
			return true, nil
		}
		return false, m.enter(ctx, cluster.PhaseFinishing)
	case cluster.PhaseFinishing:
		return false, m.remove(ctx, move.From)
	case cluster.PhaseReturning, cluster.PhaseUndoing:
	}
	return false, fmt.Errorf("a migration in the phase %q goes nowhere", move.Phase)
}

func (m *migration) stepBack(ctx context.Context) error {
	switch m.d.Move.Phase {
	case cluster.PhaseSwitched:
		return m.enter(ctx, cluster.PhaseReturning)
	case cluster.PhaseAnnounced, cluster.PhaseCopying, cluster.PhaseComparing, cluster.PhaseReturning:
		return m.enter(ctx, cluster.PhaseUndoing)
	case cluster.PhaseUndoing:
		return m.remove(ctx, m.d.Move.To)
	case cluster.PhaseFinishing:
	}
	return fmt.Errorf("a migration in the phase %q cannot go back", m.d.Move.Phase)
}

// then enters a phase if the one before has ended well.
func (m *migration) then(ctx context.Context, err error, next cluster.Phase) error {
	if err != nil {
		return err
	}
	return m.enter(ctx, next)
}

// remove removes the layout that is not read any more, and ends the migration.
func (m *migration) remove(ctx context.Context, layout string) error {
	if err := m.mover.remove(ctx, m, layout); err != nil {
		return err
	}
	return m.end(ctx)
}

// agree waits until all servers have the current generation, and have ended what they had begun by
// an older one.
func (m *migration) agree(ctx context.Context) error {
	for {
		all, err := m.s.member.Servers(ctx)
		if err != nil {
			return err
		}
		var waiting []string
		for _, d := range all {
			switch {
			case d.Adopted[m.setting.Name] >= m.d.Generation && len(d.Adopted) > 0:
			case m.s.member.IsGone(ctx, &d):
				if err := m.s.member.Forget(ctx, d); err != nil {
					return err
				}
			default:
				waiting = append(waiting, d.Describe())
			}
		}
		if len(waiting) == 0 {
			return nil
		}
		if m.Waiting != nil {
			m.Waiting(waiting)
		}
		if err := m.s.member.Pause(ctx); err != nil {
			return err
		}
	}
}

// transaction runs fn as write does, as long as the phase is that which this process knows.
func (m *migration) transaction(ctx context.Context, op string, post social.PostID, fn func(context.Context) error) error {
	return m.s.db.WriteWithin(ctx, m.copyTime(), op, hotPost(post), func(ctx context.Context) error {
		if m.s.member.Era(ctx).Generations[m.setting.Name] != m.d.Generation {
			return errOvertaken
		}
		return fn(ctx)
	})
}

// still is an error where this process may have been paused for so long that others have gone on:
// what no transaction guards asks right before.
func (m *migration) still(ctx context.Context) error {
	e := m.s.member.Era(ctx)
	if e.Generations[m.setting.Name] != m.d.Generation {
		return errOvertaken
	}
	return m.s.member.MayWrite(e)
}

// note keeps how far the phase is, and holds the pace.
func (m *migration) note(ctx context.Context, at id.ID, n int) error {
	m.d.Move.At = at.String()
	m.d.Move.Done += n
	m.d.Move.Fixed += int(m.fixed.Swap(0))
	if m.Progress != nil {
		m.Progress(stateOf(m.d))
	}
	if time.Since(m.noted) >= noteEvery {
		m.noted = time.Now()
		if err := m.update(ctx, m.mine(), mdb.Doc("$set", mdb.Doc("move", m.d.Move))); err != nil {
			return err
		}
	}
	return m.pace.wait(ctx, n)
}

// noteEvery is how much work is done again after a crash, at most.
const noteEvery = 500 * time.Millisecond

// copyTime bounds one transaction of a migration: a little less than the database allows.
func (m *migration) copyTime() time.Duration { return m.s.transactionLife * 5 / 6 }

// together is how many entries are gone through between two notes of how far it is.
func (m *migration) together() int {
	const most = 100
	if m.Rate > 0 {
		return min(m.Rate, most)
	}
	return most
}

func stateOf(d *cluster.Setting) MigrationState {
	state := MigrationState{Subject: Subject(d.Name), Layout: d.Value}
	if m := d.Move; m != nil {
		state.From, state.To, state.Phase, state.Since = m.From, m.To, string(m.Phase), mdb.UTC(m.Since)
		state.Done, state.Total, state.Fixed = m.Done, m.Total, m.Fixed
	}
	return state
}

// Migrations returns the layout of each subject, and the progress of its migration.
func (s *Store) Migrations(ctx context.Context) (all []MigrationState, err error) {
	servers, err := s.member.Servers(ctx)
	if err != nil {
		return nil, err
	}
	err = s.db.Read(ctx, "settings", func(ctx context.Context) error {
		settings, err := s.member.ReadSettings(ctx)
		if err != nil {
			return err
		}
		all = nil
		for _, subject := range []Subject{MigrateComments, MigrateFeeds, MigrateGraph} {
			d := settings[string(subject)]
			state := stateOf(d)
			for _, server := range servers {
				if server.ID == d.Driver {
					state.Driver, state.Silent = server.Process, server.Silent()
				}
			}
			all = append(all, state)
		}
		return nil
	})
	return all, err
}
