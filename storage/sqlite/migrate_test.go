package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/pressly/goose/v3"

	"plaza/id"
	"plaza/social"
	"plaza/storage/sqlite/internal/sqldb"
)

// TestHistoriesAreMigrated upgrades a file whose posts contain their histories, downgrades it, and
// upgrades it again.
func TestHistoriesAreMigrated(t *testing.T) {
	path := filepath.Join(t.TempDir(), "plaza.db")
	edited, shared, untouched := social.PostID{ID: id.New()}, social.PostID{ID: id.New()}, social.PostID{ID: id.New()}
	circle := social.CircleID{ID: id.New()}
	migrateWith(t, path, func(ctx context.Context, db *sql.DB, p *goose.Provider) {
		if _, err := p.UpTo(ctx, 2); err != nil {
			t.Fatal(err)
		}
		insert := func(post social.PostID, audience string, circles []byte, history string, revision int) {
			_, err := db.ExecContext(ctx, `INSERT INTO posts
				(id, author, wall_owner, audience, audience_circles, type, detail, edited_at, history, revision)
				VALUES (?1, ?1, ?1, ?2, ?3, 'CHECKIN', '{"place":"Now","latitude":0,"longitude":0}', 2000000, ?4, ?5)`,
				post.Bytes(), audience, circles, history, revision)
			if err != nil {
				t.Fatal(err)
			}
		}
		insert(edited, "LISTED", circle.Bytes(), `[
			{"type":"CHECKIN","detail":{"place":"<\"Ä\\\">","latitude":0.30000000000000004,"longitude":-1e-300},"editedAt":1000000},
			{"type":"CHECKIN","detail":{"place":"\ud83d\ude00\n","latitude":0,"longitude":0,"text":"x"},"editedAt":2000000}]`, 2)
		insert(shared, "PUBLIC", []byte{}, `[{"type":"CHECKIN","detail":{"place":"Draft","latitude":0,"longitude":0},"editedAt":1000000}]`, 2)
		insert(untouched, "PUBLIC", []byte{}, "", 1)
	})
	listed := social.Audience{Kind: social.AudienceListed, Circles: []social.CircleID{circle}}
	first := social.Content{Checkin: &social.Checkin{Place: `<"Ä\">`, Latitude: 0.30000000000000004, Longitude: -1e-300}}
	second := social.Content{Checkin: &social.Checkin{Place: "😀\n", Text: "x"}}
	want := map[social.PostID][]social.Version{
		edited: {
			{Content: first, Audience: listed, EditedAt: time.Unix(1, 0)},
			{Content: second, Audience: listed, EditedAt: time.Unix(2, 0)},
		},
		shared: {{ // its audience is not known
			Content:  social.Content{Checkin: &social.Checkin{Place: "Draft"}},
			Audience: social.Audience{Kind: social.AudienceOnlyMe}, EditedAt: time.Unix(1, 0),
		}},
	}
	mustHaveHistories(t, path, want, edited, shared, untouched)
	migrateWith(t, path, func(ctx context.Context, _ *sql.DB, p *goose.Provider) {
		if _, err := p.DownTo(ctx, 2); err != nil {
			t.Fatal(err)
		}
	})
	delete(want, shared) // all users would have seen it
	mustHaveHistories(t, path, want, edited, shared, untouched)
}

func allMigrations(t *testing.T) sqldb.Migrations {
	t.Helper()
	migrations, err := tables()
	if err != nil {
		t.Fatal(err)
	}
	return migrations
}

func migrateWith(t *testing.T, path string, do func(context.Context, *sql.DB, *goose.Provider)) {
	t.Helper()
	db := connect(t, path)
	defer func() { _ = db.Close() }()
	if _, err := db.ExecContext(t.Context(), fmt.Sprintf(`PRAGMA application_id = %d`, sqldb.ApplicationID)); err != nil {
		t.Fatal(err)
	}
	provider, err := allMigrations(t).Provider(db)
	if err != nil {
		t.Fatal(err)
	}
	do(t.Context(), db, provider)
}

func mustHaveHistories(t *testing.T, path string, want map[social.PostID][]social.Version, posts ...social.PostID) {
	t.Helper()
	store, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}()
	histories, err := store.Histories(t.Context(), posts)
	if diff := cmp.Diff(want, histories, cmpopts.EquateEmpty()); err != nil || diff != "" {
		t.Errorf("the histories differ: %v (-want +got)\n%s", err, diff)
	}
	read, err := store.Posts(t.Context(), posts)
	if err != nil || len(read) != len(posts) {
		t.Fatalf("%d of %d posts are there: %v", len(read), len(posts), err)
	}
	for _, p := range read {
		if p.Edits != len(want[p.ID]) || p.Content.Checkin.Place != "Now" {
			t.Errorf("the post is %+v, want %d edits", p, len(want[p.ID]))
		}
	}
}
