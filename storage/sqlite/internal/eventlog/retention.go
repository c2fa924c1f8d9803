package eventlog

import (
	"context"
	"database/sql"
	"time"

	"plaza/id"
	"plaza/social"
	"plaza/storage/sqlite/internal/sqldb"
)

const (
	// PruneBatch is how many events one transaction of Prune checks, which takes a few
	// milliseconds. Other writers get prunePause in between.
	PruneBatch = 500
	prunePause = 20 * time.Millisecond
	// forgetBatch is how many events one transaction of Forget searches.
	forgetBatch = 5_000
)

var (
	// endOfBatch is the last event of the next batch; NULL after the last event.
	endOfBatch = sqldb.Define(`SELECT max(seq) FROM (SELECT seq FROM events WHERE seq > ? ORDER BY seq LIMIT ?)`)
	// pruneEvents removes the events of a batch that are too old. The newest event stays, because
	// it marks the log's end.
	pruneEvents = sqldb.Define(`DELETE FROM events WHERE seq > ? AND seq <= ? AND seq < (SELECT max(seq) FROM events) AND id < ?`)
	// hasPast finds an event of a batch that is not from the future.
	hasPast = sqldb.Define(`SELECT 1 FROM events WHERE seq > ? AND seq <= ? AND id < ? LIMIT 1`)

	cutLog = sqldb.Define(`DELETE FROM events WHERE seq > ?1 AND seq <= ?2 AND (actor = ?3 OR target = ?3 OR author = ?3)
		AND kind NOT IN ('user.deleted', 'session.ended')`)
)

// Prune removes all events that are older than KeepEvents allows, judging by the times in their
// ids. It skips events from the future, which a wrong clock can leave, and continues until there is
// nothing more to remove.
func (l *Log) Prune(ctx context.Context) error {
	retention := time.Duration(l.retention.Load())
	if retention == 0 {
		return nil
	}
	now := time.Now()
	oldest, newest := id.At(now.Add(-retention)), id.At(now)
	for after := int64(0); ; {
		next, err := l.pruneBatch(ctx, after, oldest, newest)
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
func (l *Log) pruneBatch(ctx context.Context, after int64, oldest, newest id.ID) (last int64, err error) {
	err = l.db.Update(ctx, func(tx *sqldb.Tx) error {
		var end sql.NullInt64
		if _, err := tx.Row(endOfBatch, []any{&end}, after, PruneBatch); err != nil || !end.Valid {
			last = 0
			return err
		}
		last = end.Int64
		removed, err := tx.Exec(pruneEvents, after, last, oldest.Bytes())
		if err != nil || removed > 0 {
			return err
		}
		young, err := tx.Exists(hasPast, after, last, newest.Bytes())
		if young {
			last = 0
		}
		return err
	})
	return last, err
}

// Forget removes events that name a deleted user, from the newest of those up to a position, and
// returns the position up to which others may be left; 0: there are none. Events that end sessions,
// and the one of the deletion, stay: the stream that closes the user's connections may not have
// read them yet.
func Forget(tx *sqldb.Tx, user social.UserID, upTo int64) (left int64, err error) {
	left = max(0, upTo-forgetBatch)
	_, err = tx.Exec(cutLog, left, upTo, user.Bytes())
	return left, err
}
