package mdb

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readconcern"

	"plaza/id"
	"plaza/retry"
	"plaza/social"
)

// abortTimeout bounds each command that ends a failed transaction, whose call may have no time
// left.
const abortTimeout = 500 * time.Millisecond

// Lease reports whether this server may use the database, and counts the calls that do.
type Lease interface {
	// AwaitReads waits until the server may read, and AwaitWrites until it may write. They return
	// ErrLeaseOver if the lease is not renewed in time.
	AwaitReads(ctx context.Context) error
	AwaitWrites(ctx context.Context) error
	// Enter begins a call, and returns the context for everything that it does.
	Enter(ctx context.Context) (context.Context, Call)
}

// Call is a call that uses the database.
type Call interface {
	// MayRead returns ErrLeaseOver if the call's reads may be out of date, and MayWrite if it must
	// not write any more.
	MayRead() error
	MayWrite() error
	// Leave ends the call.
	Leave()
}

// ErrLeaseOver means that the lease has ended: other servers may have continued without this one.
var ErrLeaseOver = fmt.Errorf("%w: this server could not renew its lease in the database", social.ErrUnavailable)

// Jobs are the jobs that transactions add.
type Jobs interface {
	// Transaction returns the context for an attempt of a transaction, and a function that gives the
	// jobs that it has added to workers: call it after the commit.
	Transaction(ctx context.Context) (context.Context, func())
}

// DB runs reads and transactions. Each has a deadline, happens within the server's lease, and is
// retried after a conflict or a change of primary. Errors are the contracts', without the driver's
// types.
type DB struct {
	client  *mongo.Client
	small   *mongo.Collection
	timeout time.Duration
	lease   Lease
	jobs    Jobs
	hot     *Locks
	primary *Primary
	first   func(context.Context) error

	acknowledged atomic.Pointer[bson.Timestamp] // of the latest ReadAcknowledged
}

// NewDB returns a DB whose calls have the given time limit, happen within a lease, and wait for
// the primary. Transactions that end others read from small, any collection of the database.
func NewDB(small *mongo.Collection, timeout time.Duration, l Lease, jobs Jobs, primary *Primary) *DB {
	return &DB{
		client: small.Database().Client(), small: small, timeout: timeout, lease: l, jobs: jobs, hot: NewLocks(), primary: primary,
		first: func(context.Context) error { return nil },
	}
}

// BeginWith sets a function that runs first in each transaction of Write. Call it before the first
// transaction.
func (d *DB) BeginWith(first func(context.Context) error) { d.first = first }

// Limit returns a context that ends after the time limit of one call.
func (d *DB) Limit(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, d.timeout)
}

// Read runs a command, or several reads, with the call's deadline, and translates the error.
func (d *DB) Read(ctx context.Context, op string, fn func(context.Context) error) error {
	limited, cancel := d.primary.limit(ctx, d.timeout)
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
	return Translate(ctx, op, causeOf(limited, err))
}

// Within runs fn, which may wait for reads of other calls and make several of its own, with the
// deadline of one call.
func (d *DB) Within(ctx context.Context, op string, fn func(context.Context) error) error {
	limited, cancel := d.primary.limit(ctx, d.timeout)
	defer cancel()
	err := fn(limited)
	if err != nil && limited.Err() != nil {
		return Translate(ctx, op, causeOf(limited, err))
	}
	return err // which is translated
}

// Acknowledged returns a collection for DB.ReadAcknowledged: reads return only what a majority has
// acknowledged.
func Acknowledged(db *mongo.Database, name string) *mongo.Collection {
	return db.Collection(name, options.Collection().SetReadConcern(readconcern.Majority()))
}

// ReadAcknowledged is Read for [Acknowledged] collections. A failover can't undo what it returns.
// The result is at least as new as those of earlier such reads of this process, even if they came
// from another primary.
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

// repeatable marks contexts whose session is only for reads, each of which may be repeated by
// itself.
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

// ReadSnapshot is Read with one snapshot for all reads of fn. Without it, a list that is assembled
// from several commands could contain a post, but lack one that was committed earlier. Writes in fn
// must use [Outside].
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

// Outside returns ctx without its snapshot or transaction.
func Outside(ctx context.Context) context.Context { return mongo.NewSessionContext(ctx, nil) }

// Write runs fn in a transaction, and retries it until it commits, fails permanently, or reaches
// the deadline. fn may run more than once, so it must set its results again each time. Writers of
// the same hot ids in this process wait for one another here, which costs far less than conflicts
// in the database. Workers of this process begin the jobs that fn has added.
func (d *DB) Write(ctx context.Context, op string, hot []id.ID, fn func(context.Context) error) error {
	return d.WriteWithin(ctx, d.timeout, op, hot, fn)
}

// WriteWithin is Write with its own time limit.
func (d *DB) WriteWithin(ctx context.Context, timeout time.Duration, op string, hot []id.ID, fn func(context.Context) error) error {
	return d.inSession(ctx, timeout, op, hot, func(ctx context.Context, session *mongo.Session) error {
		return d.writeInLease(ctx, session, fn)
	})
}

// tryWrite is Write with a single attempt, which waits for no other writers. After an error, isOpen
// says that the outcome is unknown: otherwise nothing is stored.
func (d *DB) tryWrite(ctx context.Context, op string, fn func(context.Context) error) (isOpen bool, err error) {
	err = d.inSession(ctx, d.timeout, op, nil, func(ctx context.Context, session *mongo.Session) error {
		if err := d.lease.AwaitWrites(ctx); err != nil {
			return err
		}
		ctx, call := d.lease.Enter(ctx)
		defer call.Leave()
		sent, err := d.attempt(ctx, session, d.beginning(fn), call.MayWrite)
		isOpen = err != nil && sent && (isUnknownCommit(err) || !isTransient(err))
		return err
	})
	return isOpen, err
}

// inSession runs write in a session for transactions, while the caller holds the hot ids.
func (d *DB) inSession(ctx context.Context, timeout time.Duration, op string, hot []id.ID, write func(context.Context, *mongo.Session) error) error {
	limited, cancel := d.primary.limit(ctx, timeout)
	defer cancel()
	release, err := d.hot.Acquire(limited, hot)
	if err != nil {
		return Translate(ctx, op, err)
	}
	defer release()
	session, err := d.client.StartSession(options.Session().SetCausalConsistency(false))
	if err != nil {
		return Translate(ctx, op, err)
	}
	defer session.EndSession(context.WithoutCancel(ctx))
	err = write(limited, session)
	return Translate(ctx, op, causeOf(limited, err))
}

// InLease runs fn within the lease, outside of any transaction. It returns ErrLeaseOver if this
// server must not write.
func (d *DB) InLease(ctx context.Context, fn func(context.Context) error) error {
	ctx, call := d.lease.Enter(ctx)
	defer call.Leave()
	if err := call.MayWrite(); err != nil {
		return err
	}
	return fn(ctx)
}

// writeInLease runs fn in a transaction of the current lease. If the lease ends before the commit,
// it tries again in the next lease.
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
	return Retry(ctx, func() error {
		_, err := d.attempt(ctx, session, d.beginning(fn), call.MayWrite)
		return err
	})
}

// beginning returns a function that runs the function of BeginWith, and then fn.
func (d *DB) beginning(fn func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		if err := d.first(ctx); err != nil {
			return err
		}
		return fn(ctx)
	}
}

// Retry runs fn again after conflicts and changes of primary, with growing random pauses. It does
// not wait for a primary twice.
func Retry(ctx context.Context, fn func() error) error {
	return retry.Do(ctx, fn, func(err error) bool { return isTransient(err) && !HasNoPrimary(err) })
}

// attempt runs one transaction, and commits it if the lease still allows that. It returns whether
// the commit was sent.
func (d *DB) attempt(ctx context.Context, session *mongo.Session, fn func(context.Context) error, mayCommit func() error) (sent bool, err error) {
	if err := mayCommit(); err != nil {
		return false, err
	}
	if err := session.StartTransaction(options.Transaction().SetReadConcern(readconcern.Snapshot())); err != nil {
		return false, err
	}
	inside, beginJobs := d.jobs.Transaction(mongo.NewSessionContext(ctx, session))
	if err = fn(inside); err == nil {
		err = errors.Join(ctx.Err(), mayCommit())
	}
	if sent = err == nil; sent {
		err = commit(inside, session)
	}
	if err != nil {
		d.abort(inside, session, err)
	} else {
		beginJobs()
	}
	return sent, err
}

func commit(ctx context.Context, session *mongo.Session) error {
	for {
		err := session.CommitTransaction(ctx)
		if err == nil || ctx.Err() != nil || !isUnknownCommit(err) || HasNoPrimary(err) {
			return err
		}
	}
}

// abort ends a transaction that has failed, even if ctx has ended: other writers must not have to
// wait until MongoDB notices. MongoDB can receive a command after the abort if its caller did not
// wait for the response, and would begin the transaction again. Once the session has begun another
// one, the primary of a replica set refuses that.
func (d *DB) abort(ctx context.Context, session *mongo.Session, cause error) {
	within := func(do func(context.Context) error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), abortTimeout)
		defer cancel()
		_ = do(ctx)
	}
	within(session.AbortTransaction)
	if isInterrupted(ctx, cause) && session.StartTransaction() == nil {
		within(func(ctx context.Context) error { return d.small.FindOne(ctx, Doc("_id", ZeroKey)).Err() })
		within(session.AbortTransaction)
	}
}

// isInterrupted reports whether a transaction has failed because its caller did not wait for a
// response of the primary any longer. The driver can notice a deadline before ctx does.
func isInterrupted(ctx context.Context, err error) bool {
	return (ctx.Err() != nil || mongo.IsTimeout(err)) && !errors.Is(context.Cause(ctx), errNoPrimary)
}
