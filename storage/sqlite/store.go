// Package sqlite is the embedded storage engine: storage.Store in one SQLite file, without cgo.
//
// The file is in WAL mode with synchronous=FULL, so what a call has acknowledged outlives the
// process and the power. One connection writes; a pool of others reads, each call in one snapshot.
// Tables are plain and normalised; feeds are merged when they are read.
package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/driver"

	"plaza/social"
	"plaza/storage"
)

var _ storage.Store = (*Store)(nil)

// applicationID marks a file as Plaza's: "Plza", in SQLite's header.
const applicationID = 0x506c7a61

// Store is an open database file. Its methods may be called from any goroutine.
type Store struct {
	writer *pool
	reader *pool
	log    *eventLog

	changes changeLog

	lock   io.Closer
	path   string
	logger *slog.Logger
	clock  func() time.Time

	retention    atomic.Int64  // how long events are kept, in nanoseconds; 0: forever
	retentionSet chan struct{} // tells Work that eventAge has changed

	left chan struct{} // tells Work that a call left something unfinished

	reservations *reservations
	full         atomic.Bool // whether the last write or check found the disk full
	roomMu       sync.Mutex  // held by tryRoom
}

// Open opens the database file, creates it and its folder if missing, and upgrades its tables. Only
// one Plaza at a time can have a file open. The error says so if another one has; it also says if
// the file is damaged, belongs to another program, or was written by a newer Plaza (TooNewError).
func Open(ctx context.Context, path string) (*Store, error) { return OpenWith(ctx, path, Options{}) }

// Options of OpenWith. The zero value works.
type Options struct {
	// Logger gets what operators should know about the disk and about work in the background.
	// Default: nothing is logged.
	Logger *slog.Logger
	// MustExist forbids OpenWith to create the file or its folder: if the file is missing, the
	// error is fs.ErrNotExist.
	MustExist bool
}

// OpenWith is [Open] with options.
func OpenWith(ctx context.Context, path string, o Options) (*Store, error) {
	find := prepareFile
	if o.MustExist {
		find = existingFile
	}
	path, err := find(path)
	if err != nil {
		return nil, err
	}
	return openLocked(ctx, path, cmp.Or(o.Logger, slog.New(slog.DiscardHandler)))
}

func existingFile(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("the database file: %w", err)
	}
	return path, nil
}

func openLocked(ctx context.Context, path string, logger *slog.Logger) (*Store, error) {
	lock, err := lockFile(path + ".lock")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	s := &Store{path: path, logger: logger, lock: lock, clock: time.Now, log: newEventLog(), left: make(chan struct{}, 1), retentionSet: make(chan struct{}, 1), reservations: newReservations()}
	if err := s.open(ctx, path); err != nil {
		return nil, errors.Join(openFault(path, err), s.closeAll())
	}
	return s, nil
}

// prepareFile creates the folder, and an empty file that only its owner can read, because it will
// contain password hashes.
func prepareFile(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", fmt.Errorf("the folder of the database: %w", err)
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return "", fmt.Errorf("the database file: %w", err)
	}
	return path, file.Close()
}

func (s *Store) open(ctx context.Context, path string) error {
	writer, err := openDB(path, 1, "_txlock=immediate", "_pragma=journal_mode(wal)",
		"_pragma=journal_size_limit(67108864)")
	if err != nil {
		return err
	}
	s.writer = &pool{db: writer}
	if err := claim(ctx, writer); err != nil {
		return err
	}
	if err := migrate(ctx, writer); err != nil {
		return err
	}
	reader, err := openDB(path, max(4, runtime.NumCPU()), "_pragma=query_only(on)")
	if err != nil {
		return err
	}
	s.reader = &pool{db: reader, readOnly: true}
	if err := s.writer.prepare(ctx); err != nil {
		return err
	}
	if err := s.reader.prepare(ctx); err != nil {
		return err
	}
	err = s.view(ctx, func(w *work) error {
		_, err := w.row(lastEvent, []any{&s.log.last})
		return err
	})
	if err != nil {
		return err
	}
	syncFolder(filepath.Dir(path))
	return nil
}

// syncFolder makes the names of new files durable. The driver should do that when it creates the
// write-ahead log, but syncs the file twice instead. Where folders cannot be synced (Windows),
// names are durable anyway.
func syncFolder(path string) {
	if folder, err := os.Open(path); err == nil {
		_ = folder.Sync()
		_ = folder.Close()
	}
}

// openDB creates a pool of connections. It does not touch the file yet.
func openDB(path string, connections int, options ...string) (*sql.DB, error) {
	options = append([]string{
		"_pragma=busy_timeout(5000)", // for locks of other programs; Plaza itself has only one writer
		"_pragma=synchronous(full)",
		"_pragma=foreign_keys(on)",
		"_pragma=trusted_schema(off)",
		"_pragma=temp_store(memory)",
		"_pragma=cache_size(-16000)",                                      // KiB
		"modeof=" + strings.ReplaceAll(url.QueryEscape(path), "+", "%20"), // the log is as private as the file
	}, options...)
	slashed := filepath.ToSlash(path)
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed // a Windows drive
	}
	name := url.URL{Scheme: "file", Path: slashed, RawQuery: strings.Join(options, "&")}
	db, err := driver.Open(name.String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections) // keep prepared statements
	return db, nil
}

// claim marks a new file as Plaza's, and refuses databases of other programs.
func claim(ctx context.Context, db *sql.DB) error {
	var mark, tables int
	if err := db.QueryRowContext(ctx, `PRAGMA application_id`).Scan(&mark); err != nil {
		return err
	}
	if err := db.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_schema`).Scan(&tables); err != nil {
		return err
	}
	switch {
	case mark == applicationID:
		return nil
	case mark != 0 || tables > 0:
		return errors.New("this is another program's SQLite database, not Plaza's")
	}
	_, err := db.ExecContext(ctx, fmt.Sprintf(`PRAGMA application_id = %d`, applicationID))
	return err
}

func migrate(ctx context.Context, db *sql.DB) error {
	provider, err := newMigrations(db)
	if err != nil {
		return err
	}
	have, want, err := provider.GetVersions(ctx)
	if err != nil {
		return err
	}
	if have > want {
		return &TooNewError{Has: have, Knows: want}
	}
	_, err = provider.Up(ctx)
	return err
}

// openFault explains to the operator what is wrong with the file.
func openFault(path string, err error) error {
	switch {
	case err == nil:
		return nil
	case isNoRoom(err):
		return fmt.Errorf("%s: the disk is full: %w", path, err)
	case errors.Is(err, sqlite3.NOTADB):
		return fmt.Errorf("%s is not an SQLite database: %w", path, err)
	case errors.Is(err, sqlite3.CORRUPT):
		return fmt.Errorf("%s is damaged; restore it from a backup: %w", path, err)
	case errors.Is(err, sqlite3.BUSY):
		return fmt.Errorf("%s is in use by another program: %w", path, err)
	case errors.Is(err, sqlite3.READONLY), errors.Is(err, sqlite3.CANTOPEN), errors.Is(err, sqlite3.PERM):
		return fmt.Errorf("%s cannot be written: %w", path, err)
	}
	return fmt.Errorf("%s: %w", path, err)
}

// Description implements storage.Store.
func (s *Store) Description() storage.Description {
	return storage.Description{Engine: "SQLite", Database: s.path}
}

// Ping reads from the file. After a write that failed with ErrNoRoom, it returns ErrNoRoom until
// Work has found room again.
func (s *Store) Ping(ctx context.Context) error {
	err := s.view(ctx, func(w *work) error {
		var schema int
		_, err := w.row(ping, []any{&schema})
		return err
	})
	if err == nil && s.full.Load() {
		return social.ErrNoRoom
	}
	return err
}

// ping reads the file's header, because SQLite answers a constant without reading the file.
var ping = define(`PRAGMA schema_version`)

// Close ends all streams, moves the write-ahead log into the database file and closes it.
func (s *Store) Close() error { return s.closeAll() }

func (s *Store) closeAll() error {
	s.log.close()
	var faults []error
	if s.reader != nil {
		faults = append(faults, s.reader.db.Close()) // first, because a reader would delay the checkpoint
	}
	if s.writer != nil {
		if s.reader != nil { // nil if opening failed
			_, err := s.writer.db.ExecContext(context.Background(), `PRAGMA wal_checkpoint(truncate)`)
			faults = append(faults, err)
		}
		faults = append(faults, s.writer.db.Close())
	}
	return errors.Join(append(faults, s.lock.Close())...)
}
