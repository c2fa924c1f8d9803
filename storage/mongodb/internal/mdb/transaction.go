package mdb

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readconcern"

	"plaza/id"
	"plaza/social"
)

const (
	firstBackoff = 2 * time.Millisecond
	maxBackoff   = 250 * time.Millisecond
	// abortTimeout bounds the abort of a transaction that is given up: its call is over already.
	abortTimeout = 500 * time.Millisecond
)

// Lease says whether this server may use the database, and counts the calls that do.
type Lease interface {
	// AwaitReads waits until the server may read, and awaitWrites until it may write. ErrLeaseOver:
	// the lease was not renewed soon enough.
	AwaitReads(ctx context.Context) error
	AwaitWrites(ctx context.Context) error
	// Enter begins a call, and returns the context for all that it does.
	Enter(ctx context.Context) (context.Context, Call)
}

// Call is a call that uses the database.
type Call interface {
	// MayRead and mayWrite are ErrLeaseOver where what the call has read may be out of date, or
	// where it must not write any more.
	MayRead() error
	MayWrite() error
	// Leave ends the call.
	Leave()
}

// ErrLeaseOver: other servers may have gone on without this one.
var ErrLeaseOver = fmt.Errorf("%w: this server could not renew its lease in the database", social.ErrUnavailable)

// Jobs counts the jobs that transactions of this process have stored, and wakes workers.
type Jobs interface {
	// Added is how many jobs this process has stored so far.
	Added() int64
	// Wake lets an idle worker look for jobs at once.
	Wake()
}

// DB runs reads and transactions. Each has a deadline, happens within the server's lease, and runs
// again where it meets a conflict or another primary. Errors are the contracts': no driver type
// leaves it.
type DB struct {
	client  *mongo.Client
	timeout time.Duration
	lease   Lease
	jobs    Jobs
	hot     *Locks
	first   func(context.Context) error

	acknowledged atomic.Pointer[bson.Timestamp] // of the latest ReadAcknowledged
}

// NewDB makes a database whose calls have the given time limit, and happen within a lease.
func NewDB(client *mongo.Client, timeout time.Duration, l Lease, jobs Jobs) *DB {
	return &DB{client: client, timeout: timeout, lease: l, jobs: jobs, hot: NewLocks(), first: func(context.Context) error { return nil }}
}

// BeginWith lets each transaction of Write begin with a function. It must be set before the first
// one.
func (d *DB) BeginWith(first func(context.Context) error) { d.first = first }

// Limit bounds a context by the time that one call has.
func (d *DB) Limit(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, d.timeout)
}

// Read runs one command, or several reads, under the call's deadline, and translates its error.
func (d *DB) Read(ctx context.Context, op string, fn func(context.Context) error) error {
	limited, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	if err := d.lease.AwaitReads(limited); err != nil {
		return Translate(ctx, op, err)
	}
	inside, call := d.lease.Enter(limited)
	defer call.Leave()
	err := fn(inside)
	if err == nil {
		err = call.MayRead()
	}
	return Translate(ctx, op, err)
}

// Acknowledged is a collection of which only that is read which a majority has, for
// DB.ReadAcknowledged.
func Acknowledged(db *mongo.Database, name string) *mongo.Collection {
	return db.Collection(name, options.Collection().SetReadConcern(readconcern.Majority()))
}

// ReadAcknowledged is Read of collections that are [Acknowledged]. Whatever it returns can't be
// lost in a fail-over, and is at least as new as what earlier such reads of this process have
// returned, also from another primary.
func (d *DB) ReadAcknowledged(ctx context.Context, op string, fn func(context.Context) error) error {
	return d.Read(ctx, op, func(ctx context.Context) error {
		session, err := d.client.StartSession(options.Session().SetCausalConsistency(true))
		if err != nil {
			return err
		}
		defer session.EndSession(context.WithoutCancel(ctx))
		if latest := d.acknowledged.Load(); latest != nil {
			if err := session.AdvanceOperationTime(latest); err != nil {
				return err
			}
		}
		err = fn(context.WithValue(mongo.NewSessionContext(ctx, session), repeatable{}, true))
		d.noteAcknowledged(session.OperationTime())
		return err
	})
}

// repeatable marks contexts whose session is for reads that may be repeated one by one.
type repeatable struct{}

// noteAcknowledged remembers the latest time of an acknowledged read.
func (d *DB) noteAcknowledged(at *bson.Timestamp) {
	for at != nil {
		latest := d.acknowledged.Load()
		if latest != nil && !at.After(*latest) || d.acknowledged.CompareAndSwap(latest, at) {
			return
		}
	}
}

// ReadSnapshot is read with all reads of fn on one snapshot: a list that several commands put
// together must not lack a post that was committed before another one that it shows. Writes in fn
// must be outside.
func (d *DB) ReadSnapshot(ctx context.Context, op string, fn func(context.Context) error) error {
	return d.Read(ctx, op, func(ctx context.Context) error {
		return Retry(ctx, func() error { return d.onSnapshot(ctx, fn) })
	})
}

func (d *DB) onSnapshot(ctx context.Context, fn func(context.Context) error) error {
	session, err := d.client.StartSession(options.Session().SetSnapshot(true))
	if err != nil {
		return err
	}
	defer session.EndSession(context.WithoutCancel(ctx))
	if err := fn(mongo.NewSessionContext(ctx, session)); err != nil {
		return onLostSnapshot(err)
	}
	return nil
}

// Outside is ctx without the snapshot or the transaction that it is in.
func Outside(ctx context.Context) context.Context { return mongo.NewSessionContext(ctx, nil) }

// Write runs fn in a transaction until it commits, fails for good, or the deadline comes. fn may
// run more than once: it must set its results anew each time. Writers of the same hot ids in this
// process wait for one another here, which is far cheaper than the conflicts that they would have
// in the database. Where fn has made jobs, workers of this process begin at once.
func (d *DB) Write(ctx context.Context, op string, hot []id.ID, fn func(context.Context) error) error {
	return d.WriteWithin(ctx, d.timeout, op, hot, fn)
}

// WriteWithin is write with a deadline of its own.
func (d *DB) WriteWithin(ctx context.Context, timeout time.Duration, op string, hot []id.ID, fn func(context.Context) error) error {
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	release, err := d.Hold(limited, hot)
	if err != nil {
		return Translate(ctx, op, err)
	}
	defer release()
	session, err := d.client.StartSession(options.Session().SetCausalConsistency(false))
	if err != nil {
		return Translate(ctx, op, err)
	}
	defer session.EndSession(context.WithoutCancel(ctx))
	jobs := d.jobs.Added()
	err = d.writeInLease(limited, session, fn)
	if err == nil && d.jobs.Added() != jobs {
		d.jobs.Wake() // one too often now and then: others make jobs at the same time
	}
	return Translate(ctx, op, err)
}

// Hold makes other writers of the same hot ids wait until the function that it returns is called.
func (d *DB) Hold(ctx context.Context, hot []id.ID) (release func(), err error) {
	return d.hot.Acquire(ctx, hot)
}

// InLease runs fn within the lease, outside of any transaction. ErrLeaseOver: this server must not
// write.
func (d *DB) InLease(ctx context.Context, fn func(context.Context) error) error {
	ctx, call := d.lease.Enter(ctx)
	defer call.Leave()
	if err := call.MayWrite(); err != nil {
		return err
	}
	return fn(ctx)
}

// writeInLease runs fn in a transaction of the current lease; and again, in the next one, where the
// lease was over before it could commit.
func (d *DB) writeInLease(ctx context.Context, session *mongo.Session, fn func(context.Context) error) error {
	for {
		if err := d.lease.AwaitWrites(ctx); err != nil {
			return err
		}
		if err := d.writeInCall(ctx, session, fn); !errors.Is(err, ErrLeaseOver) {
			return err
		}
	}
}

func (d *DB) writeInCall(ctx context.Context, session *mongo.Session, fn func(context.Context) error) error {
	ctx, call := d.lease.Enter(ctx)
	defer call.Leave()
	return Retry(ctx, func() error { return attempt(ctx, session, d.beginning(fn), call.MayWrite) })
}

// beginning is what a transaction does: what each begins with, and fn.
func (d *DB) beginning(fn func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		if err := d.first(ctx); err != nil {
			return err
		}
		return fn(ctx)
	}
}

// Retry runs fn again, after a growing random pause, for as long as it meets conflicts, or another
// primary. It does not wait for a primary twice.
func Retry(ctx context.Context, fn func() error) error {
	for pause := firstBackoff; ; pause = min(2*pause, maxBackoff) {
		err := fn()
		if err == nil || !isTransient(err) || HasNoPrimary(err) {
			return err
		}
		select {
		case <-time.After(rand.N(pause)): //nolint:gosec // a pause is no secret
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		}
	}
}

// attempt runs one transaction, and commits it if it still may.
func attempt(ctx context.Context, session *mongo.Session, fn func(context.Context) error, mayCommit func() error) error {
	if err := mayCommit(); err != nil {
		return err
	}
	err := session.StartTransaction(options.Transaction().SetReadConcern(readconcern.Snapshot()))
	if err != nil {
		return err
	}
	inside := mongo.NewSessionContext(ctx, session)
	if err := fn(inside); err != nil {
		abort(inside, session)
		return err
	}
	if err := mayCommit(); err != nil {
		abort(inside, session)
		return err
	}
	for {
		err := session.CommitTransaction(inside)
		if err == nil || ctx.Err() != nil || !isUnknownCommit(err) || HasNoPrimary(err) {
			return err
		}
	}
}

// abort gives up a transaction, also when ctx is over: other writers must not wait for the server
// to notice.
func abort(ctx context.Context, session *mongo.Session) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), abortTimeout)
	defer cancel()
	_ = session.AbortTransaction(ctx)
}
