package sqldb

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/driver"
)

const (
	// emptyLogEvery is the interval at which EmptyLog checks whether something was written.
	emptyLogEvery = time.Minute
	// waitForReaders is how long writers may have to wait, once in that interval, until readers
	// have left the log. Plaza's own leave it within milliseconds, and new ones do not use it, so a
	// busy server empties its log, too. A backup by another program can take longer.
	waitForReaders = 100 * time.Millisecond
)

// EmptyLog empties the write-ahead log after writes, until ctx ends. SQLite itself only overwrites
// the log from its start, as it writes, so what users have deleted would stay in it on a quiet
// server. The first time is immediate, because the log may be that of a server that was killed.
func (db *DB) EmptyLog(ctx context.Context) {
	ticker := time.NewTicker(emptyLogEvery)
	defer ticker.Stop()
	for ctx.Err() == nil {
		if db.written.Swap(false) {
			db.tryToEmptyLog(ctx)
		}
		select {
		case <-ctx.Done():
		case <-ticker.C:
		}
	}
}

// tryToEmptyLog empties the write-ahead log, or makes EmptyLog try again.
func (db *DB) tryToEmptyLog(ctx context.Context) {
	err := db.emptyLog(ctx)
	if err == nil {
		return
	}
	db.written.Store(true)
	if ctx.Err() == nil && !errors.Is(err, sqlite3.BUSY) {
		db.logger.WarnContext(ctx, "the write-ahead log will be emptied later", "database", db.path, "error", err)
	}
}

// emptyLog moves the write-ahead log into the database file and truncates it. Error: sqlite3.BUSY:
// readers still need the log.
func (db *DB) emptyLog(ctx context.Context) error {
	conn, err := db.writer.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }() // back to the pool
	return conn.Raw(func(raw any) error {
		c, ok := raw.(driver.Conn)
		if !ok {
			return fmt.Errorf("a connection is a %T", raw)
		}
		if err := c.Raw().BusyTimeout(waitForReaders); err != nil {
			return err
		}
		_, _, err := c.Raw().WALCheckpoint("main", sqlite3.CHECKPOINT_TRUNCATE)
		return errors.Join(err, c.Raw().BusyTimeout(busyTimeout))
	})
}
