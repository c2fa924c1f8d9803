package sqlite

import (
	"context"
	"errors"
	"sync"
	"time"

	"plaza/social"
)

// Work implements social.Worker: it removes deleted data and events that are too old, empties the
// write-ahead log, which still has what was deleted, and notices when a full disk has room again.
func (s *Store) Work(ctx context.Context) {
	var all sync.WaitGroup
	all.Go(func() { s.removeDeleted(ctx) })
	all.Go(func() { s.prunePeriodically(ctx) })
	all.Go(func() { s.db.EmptyLog(ctx) })
	all.Go(func() { s.db.WatchRoom(ctx) })
	all.Wait()
}

// removeDeleted completes erasures of comments that were interrupted, possibly in an earlier
// process, and removes the data of deleted users.
func (s *Store) removeDeleted(ctx context.Context) {
	const again = 10 * time.Second
	for ctx.Err() == nil {
		var retry <-chan time.Time
		if err := errors.Join(s.eraseAll(ctx), s.deleteAll(ctx)); err != nil && ctx.Err() == nil {
			s.logger.WarnContext(ctx, "deleted data will be removed later", "error", err)
			retry = time.After(again)
		}
		select {
		case <-ctx.Done():
		case <-s.unfinished:
		case <-retry:
		}
	}
}

// pruneEvery is the interval at which Work looks for old data.
const pruneEvery = 10 * time.Minute

// prunePeriodically removes old data until ctx ends.
func (s *Store) prunePeriodically(ctx context.Context) {
	ticker := time.NewTicker(pruneEvery)
	defer ticker.Stop()
	for ctx.Err() == nil {
		if err := s.prune(ctx); err != nil && ctx.Err() == nil {
			s.logger.WarnContext(ctx, "old events, notifications, idempotency keys, sessions, mails, handles and invitations will be removed later", "error", err)
		}
		select {
		case <-ctx.Done():
		case <-ticker.C:
		case <-s.log.RetentionSet():
		}
	}
}

// prune removes old events, notifications, idempotency keys, sessions, mails, handles and
// invitations. An error does not keep the others.
func (s *Store) prune(ctx context.Context) (err error) {
	for _, remove := range []func(context.Context) error{
		s.log.Prune, s.notifications.Expire, s.keys.Expire, s.expireSessions, s.expireMail, s.expireHandles, s.invitations.Expire,
	} {
		err = errors.Join(err, remove(ctx))
	}
	return err
}

// Backlog implements social.Worker.
func (s *Store) Backlog(ctx context.Context) (b social.Backlog, err error) {
	erasures, err := s.erasures(ctx)
	if err != nil {
		return b, err
	}
	deletions, err := s.deletions(ctx)
	for _, of := range erasures {
		add(&b, of.started)
	}
	for _, of := range deletions {
		add(&b, of.since)
	}
	return b, err
}

// add counts a job that was created at the given time.
func add(b *social.Backlog, made time.Time) {
	b.Waiting++
	if b.Oldest.IsZero() || made.Before(b.Oldest) {
		b.Oldest = made
	}
}

// Revive implements social.Worker. Jobs of this engine never fail permanently.
func (s *Store) Revive(ctx context.Context) (int, error) { return 0, ctx.Err() }
