package eventlog

import (
	"context"
	"sync/atomic"
	"time"

	"plaza/social"
	"plaza/storage/sqlite/internal/sqldb"
)

var (
	insertEvent = sqldb.Define(`INSERT INTO events (id, kind, actor, target, post, comment, circle, session, author, audience, audience_circles)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING seq`)
	lastEvent = sqldb.Define(`SELECT coalesce(max(seq), 0) FROM events`)
)

// Log is the log of a database.
type Log struct {
	db      *sqldb.DB
	signal  *signal
	changes changes

	retention    atomic.Int64  // how long events are kept, in nanoseconds; 0: forever
	retentionSet chan struct{} // receives when retention has changed
}

var (
	_ social.EventLog  = (*Log)(nil)
	_ social.ChangeLog = (*Log)(nil)
)

// Open reads where the log of a database ends.
func Open(ctx context.Context, db *sqldb.DB) (*Log, error) {
	l := &Log{db: db, signal: newSignal(), retentionSet: make(chan struct{}, 1)}
	err := db.View(ctx, func(tx sqldb.Reader) error {
		_, err := tx.Row(lastEvent, []any{&l.signal.last})
		return err
	})
	return l, err
}

// Tx is a transaction that writes, with its entries for the logs.
type Tx struct {
	*sqldb.Tx

	// Changes is the transaction's entry for the log of changes.
	Changes social.Change

	seq int64 // the last event that was appended; 0: none
}

// Update runs do in a transaction, and notifies the streams of its events after the commit.
func (l *Log) Update(ctx context.Context, do func(*Tx) error) error {
	var tx Tx
	err := l.db.Update(ctx, func(inner *sqldb.Tx) error {
		tx.Tx = inner
		return do(&tx)
	})
	l.changes.add(tx.Changes) // also after an error: the commit may have succeeded
	if err != nil {
		return err
	}
	l.signal.advance(tx.seq)
	return nil
}

// AppendWith stores an event, and adds a change to the transaction's entry for the log of changes.
func (tx *Tx) AppendWith(c social.Change, e social.Event) error {
	tx.Changes.Add(c)
	return tx.Append(e)
}

// Append stores an event with the changes of its transaction.
func (tx *Tx) Append(e social.Event) error {
	var session, audience, circles any
	if e.Session != [32]byte{} {
		session = e.Session[:]
	}
	if e.Audience.Kind != "" {
		audience, circles = string(e.Audience.Kind), sqldb.JoinIDs(e.Audience.Circles)
	}
	_, err := tx.Row(insertEvent, []any{&tx.seq}, e.ID.Bytes(), string(e.Kind), sqldb.OrNull(e.Actor.ID), sqldb.OrNull(e.Target.ID),
		sqldb.OrNull(e.Post.ID), sqldb.OrNull(e.Comment.ID), sqldb.OrNull(e.Circle.ID), session, sqldb.OrNull(e.Author.ID), audience, circles)
	return err
}

// Changes implements social.ChangeLog.
func (l *Log) Changes(ctx context.Context, since social.ChangePosition) ([]social.Change, social.ChangePosition, error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	changes, now := l.changes.since(since)
	return changes, now, nil
}

// KeepEvents implements social.EventLog. Prune removes older events.
func (l *Log) KeepEvents(ctx context.Context, retention time.Duration) error {
	l.retention.Store(int64(retention))
	select {
	case l.retentionSet <- struct{}{}:
	default: // the previous change has not been seen yet
	}
	return ctx.Err()
}

// RetentionSet receives when KeepEvents has changed what Prune removes.
func (l *Log) RetentionSet() <-chan struct{} { return l.retentionSet }

// Close ends all streams.
func (l *Log) Close() { l.signal.close() }
