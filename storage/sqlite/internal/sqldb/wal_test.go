package sqldb

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ncruces/go-sqlite3"
)

const secret = "what a user deletes"

var deleteThings = Define(`DELETE FROM things`)

// TestDeletedDataLeavesTheLog deletes something on a server that is quiet afterwards.
func TestDeletedDataLeavesTheLog(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := writeAndDelete(t)
		ctx, stop := context.WithCancel(t.Context())
		go db.EmptyLog(ctx)
		synctest.Wait()
		mustHaveLeft(t, db)
		update(t, db, insertThing, secret)
		update(t, db, deleteThings)
		<-time.After(emptyLogEvery)
		synctest.Wait()
		mustHaveLeft(t, db)
		stop()
		synctest.Wait()
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestReadersDelayEmptyingTheLog: while a reader needs the log, emptying it fails soon, and writers
// go on. It succeeds with readers that have come since.
func TestReadersDelayEmptyingTheLog(t *testing.T) {
	t.Parallel()
	db := writeAndDelete(t)
	defer func() { _ = db.Close() }()
	whileReading(t, db, func() {
		update(t, db, insertThing, "another thing")
		if err := db.emptyLog(t.Context()); !errors.Is(err, sqlite3.BUSY) {
			t.Errorf("with a reader: %v", err)
		}
		update(t, db, insertThing, "a third thing")
	})
	if err := db.emptyLog(t.Context()); err != nil {
		t.Errorf("without readers: %v", err)
	}
	mustHaveLeft(t, db)
	whileReading(t, db, func() {
		if err := db.emptyLog(t.Context()); err != nil {
			t.Errorf("with a reader that does not need the log: %v", err)
		}
	})
	var wait int64
	if err := db.writer.db.QueryRowContext(t.Context(), `PRAGMA busy_timeout`).Scan(&wait); err != nil || wait != busyTimeout.Milliseconds() {
		t.Errorf("then writers wait %d ms for other programs, %v", wait, err)
	}
}

// whileReading calls do while a snapshot is being read.
func whileReading(t *testing.T, db *DB, do func()) {
	t.Helper()
	err := db.View(t.Context(), func(tx Reader) error {
		var n int
		_, err := tx.Row(countThings, []any{&n})
		do()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func writeAndDelete(t *testing.T) *DB {
	t.Helper()
	db, err := Open(t.Context(), filepath.Join(t.TempDir(), "plaza.sqlite"), Options{Migrations: things})
	if err != nil {
		t.Fatal(err)
	}
	update(t, db, insertThing, secret)
	update(t, db, deleteThings)
	if log, err := os.ReadFile(db.Path() + "-wal"); err != nil || !bytes.Contains(log, []byte(secret)) {
		t.Fatalf("the log does not have what was written: %d bytes, %v", len(log), err)
	}
	return db
}

func update(t *testing.T, db *DB, st *Statement, args ...any) {
	t.Helper()
	err := db.Update(t.Context(), func(tx *Tx) error {
		_, err := tx.Exec(st, args...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func mustHaveLeft(t *testing.T, db *DB) {
	t.Helper()
	for _, path := range []string{db.Path(), db.Path() + "-wal"} {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(content, []byte(secret)) {
			t.Errorf("%s has what was deleted", filepath.Base(path))
		}
	}
}
