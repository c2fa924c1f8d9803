package sqldb

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"syscall"
	"testing"
	"testing/fstest"

	"github.com/ncruces/go-sqlite3"

	"plaza/internal/testtime"
	"plaza/social"
)

// The statements of the tests, and the table that they need.
var (
	insertThing = Define(`INSERT INTO things (name) VALUES (?)`)
	countThings = Define(`SELECT count(*) FROM things`)

	things = Migrations{Files: fstest.MapFS{"00001_things.sql": {Data: []byte("-- +goose Up\nCREATE TABLE things (name TEXT NOT NULL) STRICT;\n")}}}
)

// TestFileThatCannotGrow uses a file that cannot grow for a while: writes fail and change nothing,
// reads succeed, and WatchRoom notices when there is room again.
func TestFileThatCannotGrow(t *testing.T) {
	t.Parallel()
	db, err := Open(t.Context(), filepath.Join(t.TempDir(), "plaza.sqlite"), Options{Migrations: things})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	limit := func(pages int) {
		if err := db.Pragma(t.Context(), fmt.Sprintf("max_page_count = %d", pages)); err != nil {
			t.Fatal(err)
		}
	}
	stored := 0
	write := func() error {
		err := db.Update(t.Context(), func(tx *Tx) error {
			for range 100 {
				if _, err := tx.Exec(insertThing, "a thing with a name of some length"); err != nil {
					return err
				}
			}
			return nil
		})
		if err == nil {
			stored += 100
		}
		return err
	}
	limit(1) // SQLite raises this to the current number of pages
	for err == nil {
		err = write()
	}
	if !errors.Is(err, social.ErrNoRoom) || !errors.Is(err, social.ErrUnavailable) {
		t.Errorf("a write without room: %v", err)
	}
	if err := db.Ping(t.Context()); !errors.Is(err, social.ErrNoRoom) {
		t.Errorf("Ping: %v", err)
	}
	var found int
	err = db.View(t.Context(), func(tx Reader) error {
		_, err := tx.Row(countThings, []any{&found})
		return err
	})
	if err != nil || found != stored {
		t.Errorf("a read: %d rows of %d, %v", found, stored, err)
	}
	db.room.look(t.Context())
	if err := db.Ping(t.Context()); !errors.Is(err, social.ErrNoRoom) {
		t.Errorf("Ping after a look at a file that still cannot grow: %v", err)
	}
	limit(1 << 30)
	ctx, stop := context.WithCancel(t.Context())
	watched := make(chan struct{})
	go func() { defer close(watched); db.WatchRoom(ctx) }()
	defer func() { stop(); <-watched }()
	testtime.Eventually(t, "room", func() bool { return db.Ping(t.Context()) == nil })
	if err := write(); err != nil {
		t.Errorf("a write with room: %v", err)
	}
	var left int
	err = db.writer.db.QueryRowContext(t.Context(), `SELECT count(*) FROM sqlite_schema WHERE name = 'room'`).Scan(&left)
	if err != nil || left > 0 {
		t.Errorf("the check leaves %d tables: %v", left, err)
	}
}

// TestErrorsOfAFullDisk: SQLite reports some of them as I/O errors.
func TestErrorsOfAFullDisk(t *testing.T) {
	t.Parallel()
	for _, cause := range []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG} {
		if err := translate(t.Context(), fmt.Errorf("%w: %w", sqlite3.IOERR, cause)); !errors.Is(err, social.ErrNoRoom) {
			t.Errorf("%v is %v", cause, err)
		}
	}
	if err := translate(t.Context(), sqlite3.IOERR); errors.Is(err, social.ErrNoRoom) || !errors.Is(err, social.ErrUnavailable) {
		t.Errorf("an I/O error of another kind is %v", err)
	}
}
