package mongodb

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readconcern"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/topology"

	"plaza/fault"
	"plaza/id"
	"plaza/social"
)

const (
	firstBackoff = 2 * time.Millisecond
	maxBackoff   = 250 * time.Millisecond
	abortTimeout = 500 * time.Millisecond
)

// interrupted is the server's error for a command whose session was ended: see Store.endTransactions.
const interrupted = 11601

// errAgain says that another transaction came in between, and that this one must be run again.
var errAgain = errors.New("conflict between transactions")

// unavailableCodes are the server's errors that pass: shutdown, no primary, stepping down, time limits.
var unavailableCodes = []int{6, 7, 24, 50, 64, 89, 91, 112, 189, 251, 262, 9001, 10058, 10107, 11600, 11602, 13435, 13436, 50915}

// read runs one command, or several reads, under the call's deadline, and translates its error.
func (s *Store) read(ctx context.Context, op string, fn func(context.Context) error) error {
	limited, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	if err := s.member.awaitReads(limited); err != nil {
		return translate(ctx, op, err)
	}
	era := s.member.enter()
	defer era.calls.Done()
	err := fn(inEra(limited, era))
	if err == nil {
		err = s.member.mayRead(era)
	}
	return translate(ctx, op, err)
}

// readAtOnce is read with all reads of fn on one snapshot: a list that several commands put together must not lack a post that
// was committed before another one that it shows. Writes in fn must be outside.
func (s *Store) readAtOnce(ctx context.Context, op string, fn func(context.Context) error) error {
	return s.read(ctx, op, func(ctx context.Context) error {
		return retry(ctx, func() error { return s.onSnapshot(ctx, fn) })
	})
}

func (s *Store) onSnapshot(ctx context.Context, fn func(context.Context) error) error {
	session, err := s.client.StartSession(options.Session().SetSnapshot(true))
	if err != nil {
		return err
	}
	defer session.EndSession(context.WithoutCancel(ctx))
	if err := fn(mongo.NewSessionContext(ctx, session)); err != nil {
		return onLostSnapshot(err)
	}
	return nil
}

// onLostSnapshot makes it a reason to read again that the server has given up a snapshot, or has changed an index since.
func onLostSnapshot(err error) error {
	const snapshotTooOld, snapshotUnavailable = 239, 246
	var server mongo.ServerError
	if asServerError(err, &server) && (server.HasErrorCode(snapshotTooOld) || server.HasErrorCode(snapshotUnavailable)) {
		return fmt.Errorf("%w: %w", errAgain, err)
	}
	return err
}

// outside is ctx without the snapshot or the transaction that it is in.
func outside(ctx context.Context) context.Context { return mongo.NewSessionContext(ctx, nil) }

// write runs fn in a transaction until it commits, fails for good, or the deadline comes. fn may run more than once:
// it must set its results anew each time. Writers of the same hot ids in this process wait for one another here,
// which is far cheaper than the conflicts that they would have in the database. Where fn has made jobs, workers of this
// process begin at once.
func (s *Store) write(ctx context.Context, op string, hot []id.ID, fn func(context.Context) error) error {
	return s.writeWithin(ctx, s.timeout, op, hot, fn)
}

// writeWithin is write with a deadline of its own.
func (s *Store) writeWithin(ctx context.Context, timeout time.Duration, op string, hot []id.ID, fn func(context.Context) error) error {
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	release, err := s.hot.acquire(limited, hot)
	if err != nil {
		return translate(ctx, op, err)
	}
	defer release()
	session, err := s.client.StartSession(options.Session().SetCausalConsistency(false))
	if err != nil {
		return translate(ctx, op, err)
	}
	defer session.EndSession(context.WithoutCancel(ctx))
	jobs := s.jobs.made.Load()
	err = s.writeInLease(limited, session, fn)
	if err == nil && s.jobs.made.Load() != jobs {
		s.jobs.wake() // one too often now and then: others make jobs at the same time
	}
	return translate(ctx, op, err)
}

// writeInLease runs fn in a transaction of the current era; and again, in the next one, where the lease was over before it
// could commit.
func (s *Store) writeInLease(ctx context.Context, session *mongo.Session, fn func(context.Context) error) error {
	for {
		if err := s.member.awaitWrites(ctx); err != nil {
			return err
		}
		if err := s.writeInEra(ctx, session, fn); !errors.Is(err, errLeaseOver) {
			return err
		}
	}
}

func (s *Store) writeInEra(ctx context.Context, session *mongo.Session, fn func(context.Context) error) error {
	era := s.member.enter()
	defer era.calls.Done()
	ctx = inEra(ctx, era)
	mayWrite := func() error { return s.member.mayWrite(era) }
	return retry(ctx, func() error { return attempt(ctx, session, fn, mayWrite) })
}

// retry runs fn again, after a growing random pause, for as long as it meets conflicts, or another primary. It does not
// wait for a primary twice.
func retry(ctx context.Context, fn func() error) error {
	for pause := firstBackoff; ; pause = min(2*pause, maxBackoff) {
		err := fn()
		if err == nil || !isTransient(err) || hasNoPrimary(err) {
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
		if err == nil || ctx.Err() != nil || !isUnknownCommit(err) || hasNoPrimary(err) {
			return err
		}
	}
}

// isUnknownCommit says whether the transaction may have been committed: to commit again tells.
func isUnknownCommit(err error) bool {
	return hasLabel(err, "UnknownTransactionCommitResult") || hasCode(err, interrupted)
}

// abort gives up a transaction, also when ctx is over: other writers must not wait for the server to notice.
func abort(ctx context.Context, session *mongo.Session) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), abortTimeout)
	defer cancel()
	_ = session.AbortTransaction(ctx)
}

func isTransient(err error) bool {
	return errors.Is(err, errAgain) || hasLabel(err, "TransientTransactionError") || hasCode(err, interrupted)
}

// hasNoPrimary says whether the driver has waited for a primary in vain.
func hasNoPrimary(err error) bool {
	var selection topology.ServerSelectionError
	return errors.As(err, &selection)
}

func hasLabel(err error, label string) bool {
	var labeled mongo.LabeledError
	return errors.As(err, &labeled) && labeled.HasErrorLabel(label)
}

// upserted makes the duplicate key that two concurrent upserts can end in a reason to run again.
func upserted(err error) error {
	if mongo.IsDuplicateKeyError(err) {
		return fmt.Errorf("%w: %w", errAgain, err)
	}
	return err
}

// inserted makes a duplicate key the contract's error.
func inserted(err error) error {
	if mongo.IsDuplicateKeyError(err) {
		return social.ErrTaken
	}
	return err
}

// translate makes the contracts' errors of the driver's: no driver type leaves the package.
func translate(ctx context.Context, op string, err error) error {
	switch {
	case err == nil:
		return nil
	case fault.IsRefusal(err):
		return err
	case ctx.Err() != nil:
		return fmt.Errorf("mongodb: %s: %w", op, ctx.Err())
	case isNoRoom(err):
		return fmt.Errorf("mongodb: %s: %w: %v", op, social.ErrNoRoom, err) //nolint:errorlint // no driver type leaves the package
	case isUnavailable(err):
		return fmt.Errorf("mongodb: %s: %w: %v", op, social.ErrUnavailable, err) //nolint:errorlint // as above
	}
	return fmt.Errorf("mongodb: %s: %v", op, err) //nolint:errorlint // as above
}

// asServerError is errors.As for what the server answered.
func asServerError(err error, target *mongo.ServerError) bool { return errors.As(err, target) }

func isUnavailable(err error) bool {
	if mongo.IsTimeout(err) || mongo.IsNetworkError(err) || isTransient(err) || errors.Is(err, social.ErrUnavailable) ||
		errors.Is(err, context.DeadlineExceeded) || errors.Is(err, mongo.ErrClientDisconnected) ||
		hasLabel(err, "RetryableWriteError") || hasLabel(err, "UnknownTransactionCommitResult") {
		return true
	}
	var connection topology.ConnectionError
	if hasNoPrimary(err) || errors.As(err, &connection) {
		return true
	}
	var server mongo.ServerError
	if !errors.As(err, &server) {
		return false
	}
	const badValue = 2 // an index is being replaced (replaceIndex)
	return slices.ContainsFunc(unavailableCodes, server.HasErrorCode) ||
		server.HasErrorCodeWithMessage(badValue, "hint provided does not correspond to an existing index")
}

// isNoRoom says whether the database could not write because its disk, or its share of one, is full. A mongod that notices too late ends itself.
func isNoRoom(err error) bool {
	const outOfDiskSpace, atlasError = 14031, 8000
	var server mongo.ServerError
	return errors.Is(err, social.ErrNoRoom) || errors.As(err, &server) &&
		(server.HasErrorCode(outOfDiskSpace) || server.HasErrorCodeWithMessage(atlasError, "space quota"))
}

// hasCode says whether the server answered with a code.
func hasCode(err error, code int) bool {
	var server mongo.ServerError
	return errors.As(err, &server) && server.HasErrorCode(code)
}
