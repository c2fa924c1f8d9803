package sqlite

import (
	"context"
	"database/sql"
	"time"

	"plaza/id"
)

const (
	// pruneEvery is how often the log is looked at for events that are too old.
	pruneEvery = 10 * time.Minute
	// pruneAtOnce is how many events one transaction looks at: it takes a few milliseconds. Writers have prunePause in between.
	pruneAtOnce = 500
	prunePause  = 20 * time.Millisecond
)

var (
	// endOfBatch is the last of the next events; NULL behind the last one.
	endOfBatch = define(`SELECT max(seq) FROM (SELECT seq FROM events WHERE seq > ? ORDER BY seq LIMIT ?)`)
	// pruneEvents removes those events of a batch that are too old. The newest one stays: the log's end is known by it.
	pruneEvents = define(`DELETE FROM events WHERE seq > ? AND seq <= ? AND seq < (SELECT max(seq) FROM events) AND id < ?`)
	// hasPast finds an event of a batch that does not come from the future.
	hasPast = define(`SELECT 1 FROM events WHERE seq > ? AND seq <= ? AND id < ? LIMIT 1`)
)

// KeepEvents implements social.EventLog: Work removes what is older.
func (s *Store) KeepEvents(ctx context.Context, retention time.Duration) error {
	s.retention.Store(int64(retention))
	select {
	case s.retentionSet <- struct{}{}:
	default: // Work has not looked at the last change yet
	}
	return ctx.Err()
}

// pruneNowAndThen keeps the event log short until ctx ends.
func (s *Store) pruneNowAndThen(ctx context.Context) {
	ticker := time.NewTicker(pruneEvery)
	defer ticker.Stop()
	for ctx.Err() == nil {
		if err := s.prune(ctx); err != nil && ctx.Err() == nil {
			s.logger.WarnContext(ctx, "old events will be removed later", "error", err)
		}
		select {
		case <-ctx.Done():
		case <-ticker.C:
		case <-s.retentionSet:
		}
	}
}

// prune removes all events that are older than KeepEvents allows, by the times in their ids. It passes those from the future, which a wrong
// clock has left, until there is nothing to remove any more.
func (s *Store) prune(ctx context.Context) error {
	retention := time.Duration(s.retention.Load())
	if retention == 0 {
		return nil
	}
	now := time.Now()
	oldest, newest := id.At(now.Add(-retention)), id.At(now)
	for after := int64(0); ; {
		next, err := s.pruneBatch(ctx, after, oldest, newest)
		if err != nil || next == 0 {
			return err
		}
		after = next
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(prunePause):
		}
	}
}

// pruneBatch removes what is older than oldest of the events that follow one, and returns the last one that it has looked at; 0 where all that
// follow are to stay.
func (s *Store) pruneBatch(ctx context.Context, after int64, oldest, newest id.ID) (last int64, err error) {
	err = s.update(ctx, func(w *work) error {
		var end sql.NullInt64
		if _, err := w.row(endOfBatch, []any{&end}, after, pruneAtOnce); err != nil || !end.Valid {
			last = 0
			return err
		}
		last = end.Int64
		removed, err := w.exec(pruneEvents, after, last, oldest.Bytes())
		if err != nil || removed > 0 {
			return err
		}
		young, err := w.exists(hasPast, after, last, newest.Bytes())
		if young {
			last = 0
		}
		return err
	})
	return last, err
}
