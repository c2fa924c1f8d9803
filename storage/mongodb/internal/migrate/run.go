package migrate

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

// Server is this server's membership in the cluster: a cluster.Member.
type Server interface {
	ReadSettings(ctx context.Context) (map[string]*cluster.Setting, error)
	Servers(ctx context.Context) ([]cluster.Server, error)
	IsAlive(ctx context.Context, server string, waiting func(process string)) (*cluster.Server, error)
	IsGone(ctx context.Context, d *cluster.Server) bool
	Forget(ctx context.Context, d cluster.Server) error
	EndTurn(ctx context.Context, name string) error
	Pause(ctx context.Context) error
	Hurry()
}

// Config is what migrations need from the engine.
type Config struct {
	Self     string // the id of this server
	Server   Server
	DB       *mdb.DB
	Settings *mongo.Collection
	// TransactionTime bounds one transaction: a little less than the database allows.
	TransactionTime time.Duration
	// Generation returns the generation of a setting that a call works with.
	Generation func(ctx context.Context, setting string) int
	// MayWrite returns an error if this server may not write now.
	MayWrite func(ctx context.Context) error
}

// Mover moves the data of a subject.
type Mover interface {
	// Prepare empties a layout that no server uses, and makes it ready for writes.
	Prepare(ctx context.Context, m *Run, layout string) error
	// Count estimates how many entries Copy, Compare and Remove process.
	Count(ctx context.Context) (int, error)
	// Copy copies what the new layout lacks. All servers keep both in step meanwhile.
	Copy(ctx context.Context, m *Run) error
	// Compare compares the two layouts, and replaces copies that differ.
	Compare(ctx context.Context, m *Run) error
	// Remove removes a layout that no server reads.
	Remove(ctx context.Context, m *Run, layout string) error
}

// Run is a migration that this server drives, from phase to phase.
type Run struct {
	Migration

	c       Config
	setting cluster.Layouts
	mover   Mover
	d       *cluster.Setting // as this process has last read or written it
	pace    Pace
	noted   time.Time
	fixed   atomic.Int64 // copies that were replaced since the last note
}

// New returns a run of a migration of a setting. It returns an error for an unknown layout.
func New(c Config, what Migration, setting cluster.Layouts, mover Mover) (*Run, error) {
	m := &Run{Migration: what, c: c, setting: setting, mover: mover}
	m.pace = NewPace(m.Rate, m.Together())
	return m, setting.Check(what.To)
}

// Move returns the layouts and the progress of the migration.
func (m *Run) Move() *cluster.Move { return m.d.Move }

// Fixed counts copies that were replaced.
func (m *Run) Fixed(n int) { m.fixed.Add(int64(n)) }

// Position returns the id after which the phase continues.
func (m *Run) Position() (any, error) {
	if m.d.Move.At == "" {
		return mdb.ZeroKey, nil
	}
	at, err := id.ParseText(m.d.Move.At)
	return mdb.IDKey(social.Key(at.Bytes())), err
}

// ErrOvertaken means that another process has taken over the migration, because this one sent no
// heartbeats for too long.
var ErrOvertaken = fault.Refusal("another process has taken the migration over")

// refusal returns why a setting cannot be moved as wanted.
func (m *Run) refusal(d *cluster.Setting) error {
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
		return m.blocked(move, UnderWay)
	case m.Goal == GoalBackOut && move.Phase == cluster.PhaseFinishing:
		return m.blocked(move, PastReturn)
	case m.Goal == GoalSwitch && move.Phase == cluster.PhaseFinishing:
		return m.blocked(move, Finishing)
	case m.Goal != GoalBackOut && (move.Phase == cluster.PhaseReturning || move.Phase == cluster.PhaseUndoing):
		return m.blocked(move, BackingOut)
	case m.Goal == GoalFinish && m.To == "" && move.Phase != cluster.PhaseSwitched && move.Phase != cluster.PhaseFinishing:
		return m.blocked(move, NotSwitched)
	}
	return nil
}

// blocked returns a refusal because of the current migration.
func (m *Run) blocked(move *cluster.Move, reason Reason) error {
	return &Error{Subject: m.Subject, From: move.From, To: move.To, Wanted: m.To, Reason: reason}
}

// Claim makes this process the driver of the setting.
func (m *Run) Claim(ctx context.Context) error {
	for {
		d, err := m.read(ctx)
		if err != nil {
			return err
		}
		if err := m.refusal(d); err != nil {
			return err
		}
		alive, err := m.c.Server.IsAlive(ctx, d.Driver, nil)
		if err != nil {
			return err
		}
		if alive != nil {
			return fmt.Errorf("another process is moving %s now (%s)", d.Name, alive.Process)
		}
		taken := mdb.Doc("_id", d.Name, "driver", mdb.Doc("$in", bson.A{d.Driver, nil}), "generation", mdb.Doc("$in", bson.A{d.Generation, nil}))
		err = m.update(ctx, taken, mdb.Doc("$set", mdb.Doc("driver", m.c.Self)))
		if !errors.Is(err, ErrOvertaken) {
			return err
		}
	}
}

// Release lets other processes drive the setting.
func (m *Run) Release(ctx context.Context) error {
	return m.c.Server.EndTurn(ctx, m.setting.Name)
}

// read reads the setting.
func (m *Run) read(ctx context.Context) (d *cluster.Setting, err error) {
	err = m.c.DB.Read(ctx, "settings", func(ctx context.Context) error {
		all, err := m.c.Server.ReadSettings(ctx)
		d = all[m.setting.Name]
		return err
	})
	return d, err
}

// update changes the setting if it matches the filter, and otherwise returns ErrOvertaken.
func (m *Run) update(ctx context.Context, filter, update bson.D) error {
	return m.c.DB.Read(ctx, "change a setting", func(ctx context.Context) error {
		var d cluster.Setting
		err := m.c.Settings.FindOneAndUpdate(ctx, filter, update, options.FindOneAndUpdate().SetReturnDocument(options.After)).Decode(&d)
		if errors.Is(err, mongo.ErrNoDocuments) {
			return ErrOvertaken
		}
		if err == nil {
			m.d = &d
		}
		return err
	})
}

// mine matches the setting as long as no other process has changed it.
func (m *Run) mine() bson.D {
	return mdb.Doc("_id", m.setting.Name, "driver", m.c.Self, "generation", mdb.Doc("$in", bson.A{m.d.Generation, nil}))
}

// enter begins a phase. If servers work differently in it, the setting gets a new generation.
func (m *Run) enter(ctx context.Context, p cluster.Phase) error {
	total, err := m.mover.Count(ctx)
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

// end ends the migration.
func (m *Run) end(ctx context.Context) error {
	return m.set(ctx, mdb.Doc("$set", mdb.Doc("generation", m.d.Generation+1), "$unset", mdb.Doc("move", 1)))
}

// set changes the setting, and lets this process adopt it immediately.
func (m *Run) set(ctx context.Context, update bson.D) error {
	m.noted = time.Now()
	defer m.c.Server.Hurry()
	return m.update(ctx, m.mine(), update)
}

// Drive goes from phase to phase. It does the work of a phase only after all servers have adopted
// the phase.
func (m *Run) Drive(ctx context.Context) error {
	for {
		if err := m.Agree(ctx); err != nil {
			return err
		}
		done, err := m.Step(ctx)
		if err != nil || done {
			return err
		}
	}
}

// Step does the work of the current phase, and enters the next one. It returns true if the goal is
// reached.
func (m *Run) Step(ctx context.Context) (done bool, err error) {
	move := m.d.Move
	switch {
	case move == nil && m.Goal == GoalBackOut, move == nil && (m.To == "" || m.To == m.d.Value):
		return true, nil
	case move == nil:
		if err := m.mover.Prepare(ctx, m, m.To); err != nil {
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
		return false, m.then(ctx, m.mover.Copy(ctx, m), cluster.PhaseComparing)
	case cluster.PhaseComparing:
		return false, m.then(ctx, m.mover.Compare(ctx, m), cluster.PhaseSwitched)
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

func (m *Run) stepBack(ctx context.Context) error {
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

// then enters a phase if the one before has succeeded.
func (m *Run) then(ctx context.Context, err error, next cluster.Phase) error {
	if err != nil {
		return err
	}
	return m.enter(ctx, next)
}

// remove removes a layout that is no longer read, and ends the migration.
func (m *Run) remove(ctx context.Context, layout string) error {
	if err := m.mover.Remove(ctx, m, layout); err != nil {
		return err
	}
	return m.end(ctx)
}

// Agree waits until all servers have adopted the current generation, and have ended the calls that
// began under older ones.
func (m *Run) Agree(ctx context.Context) error {
	for {
		all, err := m.c.Server.Servers(ctx)
		if err != nil {
			return err
		}
		var waiting []string
		for _, d := range all {
			switch {
			case d.Adopted[m.setting.Name] >= m.d.Generation && len(d.Adopted) > 0:
			case m.c.Server.IsGone(ctx, &d):
				if err := m.c.Server.Forget(ctx, d); err != nil {
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
		if err := m.c.Server.Pause(ctx); err != nil {
			return err
		}
	}
}

// Transaction runs fn in a transaction, which fails if the phase is no longer the one that this
// process knows. hot is as for mdb.DB.Write.
func (m *Run) Transaction(ctx context.Context, op string, hot []id.ID, fn func(context.Context) error) error {
	return m.c.DB.WriteWithin(ctx, m.c.TransactionTime, op, hot, func(ctx context.Context) error {
		if m.c.Generation(ctx, m.setting.Name) != m.d.Generation {
			return ErrOvertaken
		}
		return fn(ctx)
	})
}

// Still returns an error if this process may have been paused for so long that another one has
// taken over. Call it right before a change outside of Transaction.
func (m *Run) Still(ctx context.Context) error {
	if m.c.Generation(ctx, m.setting.Name) != m.d.Generation {
		return ErrOvertaken
	}
	return m.c.MayWrite(ctx)
}

// Note records that the phase has done n more entries, up to an id, and waits as long as the rate
// requires.
func (m *Run) Note(ctx context.Context, at id.ID, n int) error {
	m.d.Move.At = at.String()
	m.d.Move.Done += n
	m.d.Move.Fixed += int(m.fixed.Swap(0))
	if m.Progress != nil {
		m.Progress(StateOf(m.d))
	}
	if time.Since(m.noted) >= noteEvery {
		m.noted = time.Now()
		if err := m.update(ctx, m.mine(), mdb.Doc("$set", mdb.Doc("move", m.d.Move))); err != nil {
			return err
		}
	}
	return m.pace.Wait(ctx, n)
}

// noteEvery bounds the work that is repeated after a crash.
const noteEvery = 500 * time.Millisecond

// Together returns how many entries to process between two calls of Note.
func (m *Run) Together() int {
	const most = 100
	if m.Rate > 0 {
		return min(m.Rate, most)
	}
	return most
}

// StateOf returns the state of a setting's migration.
func StateOf(d *cluster.Setting) State {
	state := State{Subject: Subject(d.Name), Layout: d.Value}
	if m := d.Move; m != nil {
		state.From, state.To, state.Phase, state.Since = m.From, m.To, string(m.Phase), mdb.UTC(m.Since)
		state.Done, state.Total, state.Fixed = m.Done, m.Total, m.Fixed
	}
	return state
}
