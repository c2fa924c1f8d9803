package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/driver"
)

// ApplicationID marks a file as Plaza's: "Plza", in SQLite's header.
const ApplicationID = 0x506c7a61

func existingFile(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("the database file: %w", err)
	}
	return filepath.EvalSymlinks(path)
}

// mustHaveContent refuses an empty file, which is not a database yet. The error is fs.ErrNotExist.
func mustHaveContent(path string) error {
	info, err := os.Stat(path)
	if err == nil && info.Size() == 0 {
		err = fmt.Errorf("the database file is empty: %w", fs.ErrNotExist)
	}
	return err
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
	if err := file.Close(); err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(path) // the lock is beside the file itself, whatever its links are called
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

// busyTimeout is how long a connection waits for the locks of other programs. Plaza itself has only
// one writer.
const busyTimeout = 5 * time.Second

// asWriter are the options of the connection that writes.
var asWriter = []string{
	"_txlock=immediate", "_pragma=journal_mode(wal)",
	"_pragma=secure_delete(on)", // what users delete must not stay in the file
}

// connect creates a pool of connections. It does not touch the file yet.
func connect(path string, connections int, options ...string) (*sql.DB, error) {
	options = append([]string{
		fmt.Sprintf("_pragma=busy_timeout(%d)", busyTimeout.Milliseconds()),
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
	db, err := driver.Open(name.String(), planOnce)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections) // keep prepared statements
	return db, nil
}

// planOnce makes a connection plan each statement once. SQLite would otherwise plan it again for each
// execution whose LIMIT is an argument, because it looks at the value: that took up to a third of
// the CPU time of small reads.
func planOnce(c *sqlite3.Conn) error {
	_, err := c.Config(sqlite3.DBCONFIG_ENABLE_QPSG, true)
	return err
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
	case mark == ApplicationID:
		return nil
	case mark != 0 || tables > 0:
		return errors.New("this is another program's SQLite database, not Plaza's")
	}
	_, err := db.ExecContext(ctx, fmt.Sprintf(`PRAGMA application_id = %d`, ApplicationID))
	return err
}
