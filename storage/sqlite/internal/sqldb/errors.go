package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/ncruces/go-sqlite3"

	"plaza/social"
)

// translate turns SQLite's errors into the contract's.
func translate(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil && (errors.Is(err, sqlite3.INTERRUPT) || errors.Is(err, sql.ErrTxDone) || errors.Is(err, ctx.Err()) || isClosed(err)):
		return ctx.Err()
	case isNoRoom(err):
		return fmt.Errorf("%w: %w", social.ErrNoRoom, err)
	case errors.Is(err, sqlite3.BUSY), errors.Is(err, sqlite3.LOCKED), errors.Is(err, sqlite3.IOERR), errors.Is(err, sqlite3.CANTOPEN), errors.Is(err, sqlite3.READONLY), errors.Is(err, sqlite3.NOMEM):
		return fmt.Errorf("%w: %w", social.ErrUnavailable, err)
	}
	return err
}

// isClosed reports whether a statement failed because database/sql closed its transaction, which it
// does when ctx ends. It exports no such error.
func isClosed(err error) bool { return err.Error() == "sql: statement is closed" }

// isNoRoom reports whether a write failed because the disk was full, or the file may not grow.
func isNoRoom(err error) bool {
	return errors.Is(err, sqlite3.FULL) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}

// ErrInUse means that another process has opened the database.
var ErrInUse = errors.New("in use by another Plaza: stop it first, or choose another data folder")

// opening is a database file as Open has found it.
type opening struct {
	path string
	log  string // the name of a write-ahead log that was left beside it; "": none was
}

// find looks for what is beside a file that is not open.
func find(path string) opening {
	if info, err := os.Stat(path + "-wal"); err == nil && info.Size() > 0 {
		return opening{path, info.Name()}
	}
	return opening{path: path}
}

// damaged explains how to restore the file. A log belongs to the file that was there before: SQLite
// would write it into the backup, too.
func (o opening) damaged(err error) error {
	name := filepath.Base(o.path)
	if o.log != "" {
		return fmt.Errorf("%s is damaged, perhaps because %s belongs to another copy of it; "+
			"to restore it from a backup, first remove %s and %s-shm: %w", o.path, o.log, o.log, name, err)
	}
	return fmt.Errorf("%s is damaged; restore it from a backup (first remove %s-wal and %s-shm, if they are there): %w", o.path, name, name, err)
}

// explain tells the operator what is wrong with the file.
func (o opening) explain(err error) error {
	path := o.path
	switch {
	case err == nil:
		return nil
	case isNoRoom(err), errors.Is(err, sqlite3.IOERR) && isNoRoom(tryFile(path)):
		return fmt.Errorf("%s: the disk is full: %w", path, err)
	case errors.Is(err, sqlite3.NOTADB):
		return fmt.Errorf("%s is not an SQLite database: %w", path, err)
	case errors.Is(err, sqlite3.CORRUPT):
		return o.damaged(err)
	case errors.Is(err, sqlite3.BUSY):
		return fmt.Errorf("%s is in use by another program: %w", path, err)
	case errors.Is(err, sqlite3.READONLY), errors.Is(err, sqlite3.CANTOPEN), errors.Is(err, sqlite3.PERM):
		return fmt.Errorf("%s cannot be written: %w", path, err)
	}
	return fmt.Errorf("%s: %w", path, err)
}

// Known reports an absent row as social.ErrNotFound.
func Known(found bool, err error) error {
	if err == nil && !found {
		return social.ErrNotFound
	}
	return err
}

// MustHaveRoom returns social.ErrLimitReached if a statement counts maximum rows or more.
func MustHaveRoom(r Reader, maximum int, count *Statement, args ...any) error {
	var n int
	_, err := r.Row(count, []any{&n}, args...)
	if err == nil && n >= maximum {
		err = social.ErrLimitReached
	}
	return err
}

// Changed returns the error none if a statement changed no row.
func Changed(rows int64, err, none error) error {
	if err == nil && rows == 0 {
		return none
	}
	return err
}

// Taken reports a broken UNIQUE constraint as social.ErrTaken.
func Taken(err error) error {
	if errors.Is(err, sqlite3.CONSTRAINT_UNIQUE) {
		return social.ErrTaken
	}
	return err
}

// IsDangling reports whether a write failed because a foreign key points to nothing.
func IsDangling(err error) bool { return errors.Is(err, sqlite3.CONSTRAINT_FOREIGNKEY) }
