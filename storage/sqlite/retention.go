package sqlite

import (
	"context"
	"log/slog"
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

// pruneEvents removes those of the oldest events that are too old. The newest one stays: the log's end is known by it.
var pruneEvents = define(`DELETE FROM events WHERE seq IN (SELECT seq FROM events WHERE seq > 0 ORDER BY seq LIMIT ?)
	AND seq < (SELECT max(seq) FROM events) AND id < ?`)

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
			slog.WarnContext(ctx, "old events will be removed later", "error", err)
		}
		select {
		case <-ctx.Done():
		case <-ticker.C:
		case <-s.retentionSet:
		}
	}
}

// prune removes all events that are older than KeepEvents allows, by the times in their ids.
func (s *Store) prune(ctx context.Context) error {
	retention := time.Duration(s.retention.Load())
	if retention == 0 {
		return nil
	}
	oldest := id.At(time.Now().Add(-retention))
	for {
		var removed int64
		err := s.update(ctx, func(w *work) (err error) {
			removed, err = w.exec(pruneEvents, pruneAtOnce, oldest.Bytes())
			return err
		})
		if err != nil || removed < pruneAtOnce {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(prunePause):
		}
	}
}
