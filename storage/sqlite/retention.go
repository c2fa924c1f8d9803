package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"plaza/id"
)

const (
	// pruneEvery is how often Work checks the log for events that are too old.
	pruneEvery = 10 * time.Minute
	// pruneBatchSize is how many events one transaction checks, which takes a few milliseconds.
	// Other writers get prunePause in between.
	pruneBatchSize = 500
	prunePause     = 20 * time.Millisecond
)

var (
	// endOfBatch is the last event of the next batch; NULL after the last event.
	endOfBatch = define(`SELECT max(seq) FROM (SELECT seq FROM events WHERE seq > ? ORDER BY seq LIMIT ?)`)
	// pruneEvents removes the events of a batch that are too old. The newest event stays, because
	// it marks the log's end.
	pruneEvents = define(`DELETE FROM events WHERE seq > ? AND seq <= ? AND seq < (SELECT max(seq) FROM events) AND id < ?`)
	// hasPast finds an event of a batch that is not from the future.
	hasPast = define(`SELECT 1 FROM events WHERE seq > ? AND seq <= ? AND id < ? LIMIT 1`)
)

// KeepEvents implements social.EventLog. Work removes older events.
func (s *Store) KeepEvents(ctx context.Context, retention time.Duration) error {
	s.retention.Store(int64(retention))
	select {
	case s.retentionSet <- struct{}{}:
	default: // Work has not yet seen the previous change
	}
	return ctx.Err()
}

// pruneNowAndThen removes old events, notifications and idempotency keys until ctx ends.
func (s *Store) pruneNowAndThen(ctx context.Context) {
	ticker := time.NewTicker(pruneEvery)
	defer ticker.Stop()
	for ctx.Err() == nil {
		if err := errors.Join(s.prune(ctx), s.expireNotifications(ctx), s.expireKeys(ctx)); err != nil && ctx.Err() == nil {
			s.logger.WarnContext(ctx, "old events, notifications and idempotency keys will be removed later", "error", err)
		}
		select {
		case <-ctx.Done():
		case <-ticker.C:
		case <-s.retentionSet:
		}
	}
}

// deleteBatches runs a deletion of rows before a bound, in transactions of deleteBatch rows.
func (s *Store) deleteBatches(ctx context.Context, st *statement, before any) error {
	for {
		var removed int64
		err := s.update(ctx, func(w *work) (err error) {
			removed, err = w.exec(st, before, deleteBatch)
			return err
		})
		if err != nil || removed < deleteBatch {
			return err
		}
	}
}

// prune removes all events that are older than KeepEvents allows, judging by the times in their
// ids. It skips events from the future, which a wrong clock can leave, and continues until there is
// nothing more to remove.
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

// pruneBatch removes events older than oldest from the batch that follows the given event. It
// returns the last event that it checked, or 0 if all that follow stay.
func (s *Store) pruneBatch(ctx context.Context, after int64, oldest, newest id.ID) (last int64, err error) {
	err = s.update(ctx, func(w *work) error {
		var end sql.NullInt64
		if _, err := w.row(endOfBatch, []any{&end}, after, pruneBatchSize); err != nil || !end.Valid {
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
