package sqldb

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"runtime"
	"slices"
	"sync/atomic"
)

// DB is an open database file. Its methods may be called from any goroutine.
type DB struct {
	writer *pool
	reader *pool
	begin  func(*Tx) error
	room   *room
	lock   io.Closer
	path   string
	found  opening
	logger *slog.Logger

	written atomic.Bool // whether the write-ahead log may have something that EmptyLog has to remove
}

// Options of [Open].
type Options struct {
	Migrations Migrations
	// Begin is called first in each transaction that writes. Its error ends the transaction.
	Begin func(*Tx) error
	// Logger gets what operators should know about the disk and about upgrades. Default: nothing is
	// logged.
	Logger *slog.Logger
	// Upgraded is called when the tables have been upgraded to another version. Default: nothing is.
	Upgraded func(from, to int64)
	// MustExist forbids Open to create the file or its folder: if the file is missing, the error is
	// fs.ErrNotExist.
	MustExist bool
}

// Open opens a database file, creates it and its folder if missing, and upgrades its tables. The
// error names the reason if another process has the file open, or if the file is damaged, belongs
// to another program, or was written by a newer Plaza (TooNewError).
func Open(ctx context.Context, path string, o Options) (*DB, error) {
	locate := prepareFile
	if o.MustExist {
		locate = existingFile
	}
	path, err := locate(path)
	if err != nil {
		return nil, err
	}
	lock, err := lockFile(path + ".lock")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	db := &DB{path: path, found: find(path), lock: lock, begin: o.Begin, logger: cmp.Or(o.Logger, slog.New(slog.DiscardHandler))}
	if o.MustExist { // with the lock: another process may be creating it
		if err := mustHaveContent(path); err != nil {
			return nil, errors.Join(err, lock.Close())
		}
	}
	if err := db.open(ctx, o); err != nil {
		return nil, errors.Join(db.Explain(err), db.Close())
	}
	return db, nil
}

func (db *DB) open(ctx context.Context, o Options) error {
	writer, err := connect(db.path, 1, append(slices.Clip(asWriter), "_pragma=journal_size_limit(67108864)")...)
	if err != nil {
		return err
	}
	db.writer = &pool{db: writer}
	db.room = &room{path: db.path, writer: db.writer, logger: db.logger}
	if err := claim(ctx, writer); err != nil {
		return err
	}
	if err := o.Migrations.Upgrade(ctx, writer, db.logUpgrade(ctx, o.Upgraded)); err != nil {
		return err
	}
	reader, err := connect(db.path, max(4, runtime.NumCPU()), "_pragma=query_only(on)")
	if err != nil {
		return err
	}
	db.reader = &pool{db: reader, readOnly: true}
	db.written.Store(true) // perhaps by a server that was killed
	if err := db.writer.prepare(ctx); err != nil {
		return err
	}
	if err := db.reader.prepare(ctx); err != nil {
		return err
	}
	syncFolder(filepath.Dir(db.path))
	return nil
}

// Path returns the path of the file.
func (db *DB) Path() string { return db.path }

// View runs do on one snapshot of the database.
func (db *DB) View(ctx context.Context, do func(Reader) error) error {
	return db.reader.run(ctx, func(tx *Tx) error { return do(tx) })
}

// Read is View with a result.
func Read[T any](ctx context.Context, db *DB, do func(Reader) (T, error)) (T, error) {
	var result T
	err := db.View(ctx, func(tx Reader) (err error) {
		result, err = do(tx)
		return err
	})
	if err != nil {
		var none T
		return none, err
	}
	return result, nil
}

// Update runs do in a transaction that writes.
func (db *DB) Update(ctx context.Context, do func(*Tx) error) error {
	err := db.writer.run(ctx, func(tx *Tx) error {
		if db.begin != nil {
			if err := db.begin(tx); err != nil {
				return err
			}
		}
		return do(tx)
	})
	db.written.Store(true) // also after an error: a large transaction writes before it ends
	if err != nil {
		return db.room.note(ctx, err)
	}
	return nil
}

// Ping reads from the file. After a write that failed with social.ErrNoRoom, it returns ErrNoRoom
// until WatchRoom has found room again.
func (db *DB) Ping(ctx context.Context) error {
	err := db.View(ctx, func(tx Reader) error {
		var schema int
		_, err := tx.Row(ping, []any{&schema})
		return err
	})
	if err != nil {
		return err
	}
	return db.room.check()
}

// ping reads the file's header, because SQLite answers a constant without reading the file.
var ping = Define(`PRAGMA schema_version`)

// WatchRoom checks until ctx ends whether a full disk has room again.
func (db *DB) WatchRoom(ctx context.Context) { db.room.watch(ctx) }

// Explain adds to an error what is wrong with the file, for the operator, as Open does.
func (db *DB) Explain(err error) error { return db.found.explain(err) }

// Pragma changes a setting of the connection that writes.
func (db *DB) Pragma(ctx context.Context, setting string) error {
	_, err := db.writer.db.ExecContext(ctx, `PRAGMA `+setting)
	return err
}

// Close moves the write-ahead log into the database file and closes it.
func (db *DB) Close() error {
	var faults []error
	if db.reader != nil {
		faults = append(faults, db.reader.db.Close()) // first, because a reader would delay the checkpoint
	}
	if db.writer != nil {
		if db.reader != nil { // nil if opening failed
			faults = append(faults, db.Pragma(context.Background(), `wal_checkpoint(truncate)`))
		}
		faults = append(faults, db.writer.db.Close())
	}
	return errors.Join(append(faults, db.lock.Close())...)
}
