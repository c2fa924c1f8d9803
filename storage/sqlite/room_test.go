package sqlite

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"plaza/id"
	"plaza/internal/testtime"
	"plaza/social"
	"plaza/storage/sqlite/internal/eventlog"
)

// TestFileThatCannotGrow uses a file that cannot grow for a while: writes fail and change nothing,
// reads succeed, and Work notices when there is room again.
func TestFileThatCannotGrow(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "plaza.sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	limit := func(pages int) {
		if err := s.db.Pragma(t.Context(), fmt.Sprintf("max_page_count = %d", pages)); err != nil {
			t.Fatal(err)
		}
	}
	write := func() error {
		return s.log.Update(t.Context(), func(tx *eventlog.Tx) error {
			for range 100 {
				if err := tx.Append(social.Event{ID: social.EventID{ID: id.New()}, Kind: social.EventPostCreated}); err != nil {
					return err
				}
			}
			return nil
		})
	}
	limit(1) // SQLite raises this to the current number of pages
	for err == nil {
		err = write()
	}
	if !errors.Is(err, social.ErrNoRoom) || !errors.Is(err, social.ErrUnavailable) {
		t.Errorf("a write without room: %v", err)
	}
	if err := s.Ping(t.Context()); !errors.Is(err, social.ErrNoRoom) {
		t.Errorf("Ping: %v", err)
	}
	if _, err := s.Users(t.Context(), []social.UserID{{ID: id.New()}}); err != nil {
		t.Errorf("a read: %v", err)
	}
	limit(1 << 30)
	ctx, stop := context.WithCancel(t.Context())
	worked := make(chan struct{})
	go func() { defer close(worked); s.Work(ctx) }()
	defer func() { stop(); <-worked }()
	testtime.Eventually(t, "room", func() bool { return s.Ping(t.Context()) == nil })
	if err := write(); err != nil {
		t.Errorf("a write with room: %v", err)
	}
	var left int
	err = connect(t, s.Description().Database).QueryRowContext(t.Context(), `SELECT count(*) FROM sqlite_schema WHERE name = 'room'`).Scan(&left)
	if err != nil || left > 0 {
		t.Errorf("the check leaves %d tables: %v", left, err)
	}
}
