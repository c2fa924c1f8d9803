package sqlite

import (
	"compress/gzip"
	"context"
	"database/sql"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pressly/goose/v3"

	"plaza/id"
	"plaza/social"
	"plaza/storage/sqlite/internal/sqldb"
)

// TestEveryEarlierFileIsBroughtUpToDate opens copies of files that servers of all earlier versions
// have written (the demo's community). Each must get the schema of a new file, keep all its data,
// and survive a downgrade.
func TestEveryEarlierFileIsBroughtUpToDate(t *testing.T) {
	t.Parallel()
	fresh := filepath.Join(t.TempDir(), "plaza.sqlite")
	openAndClose(t, fresh)
	want := schemaOf(t, fresh)
	for _, v := range earlierFiles(t, fresh) {
		t.Run(strconv.Itoa(v), func(t *testing.T) {
			t.Parallel()
			path := earlierFile(t, v)
			before, users, posts := tablesOf(t, path), idsIn(t, path, "users"), idsIn(t, path, "posts")
			if len(users) < 10 || len(posts) < 40 {
				t.Fatalf("the file has %d users and %d posts", len(users), len(posts))
			}
			openAndClose(t, path)
			if diff := cmp.Diff(want, schemaOf(t, path)); diff != "" {
				t.Errorf("the tables are not those of a new file (-new +old):\n%s", diff)
			}
			checkContent(t, path, users, posts)
			checkWayBack(t, path, v, before)
		})
	}
}

func checkContent(t *testing.T, path string, users, posts []id.ID) {
	t.Helper()
	store, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	var wanted []social.PostID
	for _, post := range posts {
		wanted = append(wanted, social.PostID{ID: post})
	}
	found, err := store.Posts(t.Context(), wanted)
	if err != nil || len(found) != len(posts) {
		t.Errorf("%d of %d posts are read: %v", len(found), len(posts), err)
	}
	for _, user := range users {
		read, err := store.Users(t.Context(), []social.UserID{{ID: user}})
		if err != nil || read[social.UserID{ID: user}] == nil {
			t.Fatalf("the user %v is gone: %v", user, err)
		}
		name := read[social.UserID{ID: user}].Name
		named, err := store.UsersNamed(t.Context(), social.NameKey(name), social.Page{Limit: 100})
		if err != nil || len(named) == 0 || named[0].Name != name {
			t.Errorf("%s is not found by name: %d, %v", name, len(named), err)
		}
	}
}

// earlierFile returns the path of a copy of the file that a server of an earlier version has written.
func earlierFile(t *testing.T, version int) (path string) {
	t.Helper()
	from, err := os.Open(fmt.Sprintf("testdata/files/v%d.sqlite.gz", version))
	if err != nil {
		t.Fatalf("%v: put a file that the last release has written there (plaza --data DIR --demo; gzip -9 -n)", err)
	}
	defer func() { _ = from.Close() }()
	unpacked, err := gzip.NewReader(from)
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(unpacked)
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), "plaza.sqlite")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func openAndClose(t *testing.T, path string) {
	t.Helper()
	store, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
}

// earlierFiles are the schema versions before the newest one.
func earlierFiles(t *testing.T, path string) (versions []int) {
	t.Helper()
	migrateWith(t, path, func(_ context.Context, _ *sql.DB, p *goose.Provider) {
		for _, source := range p.ListSources() {
			if v := int(source.Version); v >= OldestVersion {
				versions = append(versions, v)
			}
		}
	})
	return versions[:len(versions)-1]
}

// connect opens a file without a store.
func connect(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite3", "file:"+path+"?_pragma=busy_timeout(5000)&_pragma=foreign_keys(on)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	db.SetMaxOpenConns(1)
	return db
}

// execute executes a statement on a file that no store has open.
func execute(t *testing.T, path, text string, args ...any) {
	t.Helper()
	db := connect(t, path)
	if _, err := db.ExecContext(t.Context(), text, args...); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// query calls do for each row of a query on a file that no store has open.
func query(t *testing.T, path, text string, do func(sqldb.Scan)) {
	t.Helper()
	db := connect(t, path)
	rows, err := db.QueryContext(t.Context(), text)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		do(rows.Scan)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
}

func idsIn(t *testing.T, path, table string) (ids []id.ID) {
	t.Helper()
	query(t, path, `SELECT id FROM `+table, func(scan sqldb.Scan) {
		var found id.ID
		if err := scan(sqldb.Into(&found)); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, found)
	})
	return ids
}

// schemaOf returns the columns of all tables and of all indexes.
func schemaOf(t *testing.T, path string) map[string]bool {
	t.Helper()
	schema := map[string]bool{}
	add := func(scan sqldb.Scan) {
		var of, column string
		if err := scan(&of, &column); err != nil {
			t.Fatal(err)
		}
		schema[of+"."+column] = true
	}
	query(t, path, `SELECT s.name, c.name || ' ' || c.type || ' ' || c."notnull" || ' ' || coalesce(c.dflt_value, '')
		FROM sqlite_schema AS s, pragma_table_info(s.name) AS c WHERE s.type = 'table'`, add)
	query(t, path, `SELECT s.name, c.seqno || ' ' || coalesce(c.name, '') FROM sqlite_schema AS s, pragma_index_info(s.name) AS c WHERE s.type = 'index'`, add)
	return schema
}
