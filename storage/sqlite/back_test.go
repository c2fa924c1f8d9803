package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/ncruces/go-sqlite3"
	"github.com/pressly/goose/v3"

	"plaza/id"
	"plaza/social"
)

// checkWayBack writes to an upgraded file and downgrades it: the file then has the tables of the
// earlier version, with all their rows, and can be upgraded again.
func checkWayBack(t *testing.T, path string, v int, before map[string]bool) {
	t.Helper()
	postInto(t, path)
	users, posts := idsIn(t, path, "users"), idsIn(t, path, "posts")
	if err := GoBack(t.Context(), path, v); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, tablesOf(t, path)); diff != "" {
		t.Errorf("the tables are not those of version %d (-then +now):\n%s", v, diff)
	}
	if diff := cmp.Diff([][]id.ID{users, posts}, [][]id.ID{idsIn(t, path, "users"), idsIn(t, path, "posts")}); diff != "" {
		t.Errorf("people or posts are gone (-before +after):\n%s", diff)
	}
	checkContent(t, path, users, posts)
}

// tablesOf is schemaOf without defaults: a column that comes back needs a default for the existing
// rows; and without the table that keeps conversions for the next upgrade.
func tablesOf(t *testing.T, path string) map[string]bool {
	t.Helper()
	columns := map[string]bool{}
	for column := range schemaOf(t, path) {
		if strings.HasPrefix(column, "ad_kept_conversions.") {
			continue
		}
		words := strings.Fields(column)
		columns[strings.Join(words[:min(3, len(words))], " ")] = true
	}
	return columns
}

// postInto opens the file, which upgrades it, and writes a post.
func postInto(t *testing.T, path string) {
	t.Helper()
	store, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	ada, err := store.UsersByHandle(t.Context(), []string{"ada"})
	if err != nil || ada["ada"] == nil {
		t.Fatalf("ada is gone: %v", err)
	}
	p := &social.Post{
		ID: social.PostID{ID: id.New()}, Author: ada["ada"].ID, WallOwner: ada["ada"].ID, Audience: social.Audience{Kind: social.AudiencePublic},
		Content: social.Content{Status: &social.Status{Text: "since the upgrade"}},
	}
	if err := store.InsertPost(t.Context(), p, social.Event{ID: social.EventID{ID: id.New()}, Kind: social.EventPostCreated}); err != nil {
		t.Fatal(err)
	}
}

// TestGoingBackRefuses an impossible downgrade, and leaves the file unchanged.
func TestGoingBackRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "plaza.sqlite")
	if err := GoBack(t.Context(), path, OldestVersion); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	openAndClose(t, path)
	before := schemaOf(t, path)
	for _, to := range []int{-1, 0, OldestVersion - 1, newest(t, path), newest(t, path) + 1} {
		if err := GoBack(t.Context(), path, to); err == nil || !strings.Contains(err.Error(), "tables of version") {
			t.Errorf("back to %d: %v", to, err)
		}
	}
	store, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if err := GoBack(t.Context(), path, OldestVersion); err == nil {
		t.Error("it goes back while a server runs")
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, schemaOf(t, path)); diff != "" {
		t.Errorf("the tables have changed:\n%s", diff)
	}
	if err := GoBack(t.Context(), earlierFile(t, OldestVersion), OldestVersion); err == nil || !strings.Contains(err.Error(), "the oldest: it cannot go back") {
		t.Errorf("back from the oldest version: %v", err)
	}
}

func newest(t *testing.T, path string) (v int) {
	t.Helper()
	migrateWith(t, path, func(ctx context.Context, _ *sql.DB, p *goose.Provider) {
		have, err := p.GetDBVersion(ctx)
		if err != nil {
			t.Fatal(err)
		}
		v = int(have)
	})
	return v
}

// TestAFullDiskStopsAnUpgrade between two versions. Nothing is lost, and the upgrade resumes when
// there is room.
func TestAFullDiskStopsAnUpgrade(t *testing.T) {
	t.Parallel()
	path := earlierFile(t, OldestVersion)
	users, posts := idsIn(t, path, "users"), idsIn(t, path, "posts")
	for room := 0; room < 12; room += 3 { // in pages
		db := connect(t, path)
		var pages int
		if err := db.QueryRowContext(t.Context(), `PRAGMA page_count`).Scan(&pages); err != nil {
			t.Fatal(err)
		}
		if _, err := db.ExecContext(t.Context(), fmt.Sprintf(`PRAGMA max_page_count = %d`, pages+room)); err != nil {
			t.Fatal(err)
		}
		if err := allMigrations(t).Upgrade(t.Context(), db, func(int64, int64) func() { return func() {} }); !errors.Is(err, sqlite3.FULL) {
			t.Errorf("with room for %d pages the upgrade ends with %v", room, err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	checkContent(t, path, users, posts)
}
