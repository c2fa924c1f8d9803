package sqlite_test

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"plaza/id"
	"plaza/social"
	"plaza/storage/sqlite"
)

// childPath makes this test binary the process that TestKilledProcessLosesNothing kills.
const childPath = "PLAZA_TEST_SQLITE_CHILD"

func TestMain(m *testing.M) {
	if path := os.Getenv(childPath); path != "" {
		writeUntilKilled(path, os.Stdout)
		return
	}
	goleak.VerifyTestMain(m)
}

func openAt(t *testing.T, path string) *sqlite.Store {
	t.Helper()
	store, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	return store
}

func shut(t *testing.T, store *sqlite.Store) {
	t.Helper()
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
}

func newUser() social.NewUser {
	user := social.UserID{ID: id.New()}
	return social.NewUser{
		User:      social.User{ID: user, Handle: "u" + user.ID.String(), WallPolicy: social.WallEveryone},
		Following: social.NewBuiltInCircle(user),
	}
}

func newStatus(author social.UserID) *social.Post {
	return &social.Post{
		ID: social.PostID{ID: id.New()}, Author: author, WallOwner: author,
		Audience: social.Audience{Kind: social.AudiencePublic},
		Content:  social.Content{Status: &social.Status{Text: "Hello"}},
	}
}

func event(kind social.EventKind) social.Event {
	return social.Event{ID: social.EventID{ID: id.New()}, Kind: kind}
}

func TestReopenedFileHasEverything(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "folder #1?", "plaza.db") // characters with a meaning in a URI
	store := openAt(t, path)
	u := newUser()
	if err := store.InsertUser(t.Context(), u, event(social.EventUserSignedUp)); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]os.FileMode{path: 0o600, path + "-wal": 0o600, filepath.Dir(path): 0o700 | os.ModeDir} {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode() != want {
			t.Errorf("%s has the mode %v, want %v", name, info.Mode(), want)
		}
	}
	shut(t, store)
	if _, err := os.Stat(path + "-wal"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Close has left a write-ahead log: %v", err)
	}

	store = openAt(t, path)
	defer shut(t, store)
	users, err := store.Users(t.Context(), []social.UserID{u.User.ID})
	if err != nil || !reflect.DeepEqual(*users[u.User.ID], u.User) {
		t.Errorf("the user is read as %v, %v", users, err)
	}
}

func TestEventsContinueAfterAReopen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "plaza.db")
	store := openAt(t, path)
	first := tailOne(t, store)
	shut(t, store)
	store = openAt(t, path)
	defer shut(t, store)
	second := tailOne(t, store)
	if first.Position != "1" || second.Position != "2" {
		t.Errorf("the positions are %q and %q, want 1 and 2", first.Position, second.Position)
	}
}

// TestALeaseEndsWithItsProcess: only one process has the file, so the next one need not wait for the
// lease of a notifier that was killed.
func TestALeaseEndsWithItsProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "plaza.db")
	store := openAt(t, path)
	lease := func(server string) (string, bool) {
		t.Helper()
		position, is, err := store.LeaseNotifier(t.Context(), server, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		return position, is
	}
	if _, is := lease("killed"); !is {
		t.Fatal("the first server is not the notifier")
	}
	if err := store.Notify(t.Context(), "killed", time.Hour, "7", nil); err != nil {
		t.Fatal(err)
	}
	if _, is := lease("another"); is {
		t.Error("two servers of one process are the notifier")
	}
	shut(t, store)
	store = openAt(t, path)
	defer shut(t, store)
	if position, is := lease("next"); !is || position != "7" {
		t.Errorf("the next server continues at %q: %v", position, is)
	}
	if err := store.Notify(t.Context(), "killed", time.Hour, "8", nil); !errors.Is(err, social.ErrConflict) {
		t.Errorf("a server that was replaced stores something: %v", err)
	}
	if _, is := lease("another"); is {
		t.Error("two servers of the next process are the notifier")
	}
}

// tailOne opens a stream, writes one event and reads it.
func tailOne(t *testing.T, store *sqlite.Store) social.Event {
	t.Helper()
	tail, err := store.Tail(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tail.Close() }()
	e := event(social.EventUserSignedUp)
	if err := store.InsertUser(t.Context(), newUser(), e); err != nil {
		t.Fatal(err)
	}
	got, err := tail.Next(t.Context())
	if err != nil || got.ID != e.ID {
		t.Fatalf("the next event is %v, %v; want %v", got, err, e)
	}
	return got
}

func TestCloseEndsStreams(t *testing.T) {
	store := openAt(t, filepath.Join(t.TempDir(), "plaza.db"))
	tail, err := store.Tail(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	go func() {
		_, err := tail.Next(context.Background())
		ended <- err
	}()
	shut(t, store)
	if err := <-ended; err == nil {
		t.Error("a stream goes on after the store was closed")
	}
}

func TestOpenRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(t *testing.T, path string)
		says    string
	}{
		"a text file": {func(t *testing.T, path string) {
			t.Helper()
			writeFile(t, path, []byte(strings.Repeat("Not a database. ", 1000)))
		}, "is not an SQLite database"},
		"another program's database": {func(t *testing.T, path string) {
			t.Helper()
			runSQL(t, path, `CREATE TABLE notes (text TEXT)`)
		}, "another program's"},
		"a newer Plaza's database": {func(t *testing.T, path string) {
			t.Helper()
			shut(t, openAt(t, path))
			runSQL(t, path, `INSERT INTO goose_db_version (version_id, is_applied) VALUES (99999, 1)`)
		}, "run a newer Plaza"},
		"a damaged database": {func(t *testing.T, path string) {
			t.Helper()
			damage(t, path)
		}, "is damaged; restore it from a backup"},
		"a damaged database beside a log": {func(t *testing.T, path string) {
			t.Helper()
			damage(t, path)
			writeFile(t, path+"-wal", []byte("left by another file"))
		}, "plaza.db-wal belongs to another copy"},
		"a folder": {func(t *testing.T, path string) {
			t.Helper()
			if err := os.Mkdir(path, 0o700); err != nil {
				t.Fatal(err)
			}
		}, "is a directory"},
		"a file that is in use": {func(t *testing.T, path string) {
			t.Helper()
			store := openAt(t, path)
			t.Cleanup(func() { shut(t, store) })
		}, "in use by another Plaza"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "plaza.db")
			c.prepare(t, path)
			store, err := sqlite.Open(t.Context(), path)
			if err == nil {
				shut(t, store)
				t.Fatal("it was opened")
			}
			if !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), path) {
				t.Errorf("the error is %q, want the path and %q", err, c.says)
			}
		})
	}
}

// damage overwrites most of a file.
func damage(t *testing.T, path string) {
	t.Helper()
	shut(t, openAt(t, path))
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, path, append(whole[:200:200], bytes.Repeat([]byte{0xa5}, len(whole)-200)...))
}

func writeFile(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// runSQL changes a file without the store.
func runSQL(t *testing.T, path, text string) {
	t.Helper()
	db, err := sql.Open("sqlite3", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if _, err := db.ExecContext(t.Context(), text); err != nil {
		t.Fatal(err)
	}
}

func TestReadersDoNotWaitForTheWriter(t *testing.T) {
	store := openAt(t, filepath.Join(t.TempDir(), "plaza.db"))
	defer shut(t, store)
	ada := newUser()
	if err := store.InsertUser(t.Context(), ada, event(social.EventUserSignedUp)); err != nil {
		t.Fatal(err)
	}
	const posts = 200
	ctx, stop := context.WithCancel(t.Context())
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() { readNews(ctx, t, store, ada.User.ID) })
	}
	for range posts {
		p := newStatus(ada.User.ID)
		if err := store.InsertPost(t.Context(), p, event(social.EventPostCreated)); err != nil {
			t.Error(err)
		}
		// Writes are visible immediately.
		if got, err := store.News(t.Context(), ada.User.ID, social.Page{Limit: 1}); err != nil || len(got) != 1 || got[0].ID != p.ID {
			t.Errorf("the newest post is %v, %v", got, err)
		}
	}
	stop()
	readers.Wait()
}

// readNews reads until ctx ends, and checks that the list only grows.
func readNews(ctx context.Context, t *testing.T, store *sqlite.Store, viewer social.UserID) {
	t.Helper()
	for seen := 0; ; {
		news, err := store.News(ctx, viewer, social.Page{Limit: 1000})
		switch {
		case ctx.Err() != nil && errors.Is(err, context.Canceled):
			return
		case err != nil:
			t.Error(err)
			return
		case len(news) < seen:
			t.Errorf("%d posts after %d", len(news), seen)
			return
		}
		seen = len(news)
	}
}

// writeUntilKilled posts as fast as it can, and prints the ids that the store has acknowledged.
func writeUntilKilled(path string, out io.Writer) {
	ctx := context.Background()
	store, err := sqlite.Open(ctx, path)
	if err != nil {
		fmt.Fprintln(out, "error", err)
		return
	}
	ada := newUser()
	if err := store.InsertUser(ctx, ada, event(social.EventUserSignedUp)); err != nil {
		fmt.Fprintln(out, "error", err)
		return
	}
	var writers sync.WaitGroup
	var turn sync.Mutex
	for range 4 {
		writers.Go(func() {
			for {
				p := newStatus(ada.User.ID)
				if err := store.InsertPost(ctx, p, event(social.EventPostCreated)); err != nil {
					fmt.Fprintln(out, "error", err)
					return
				}
				turn.Lock()
				fmt.Fprintln(out, p.ID)
				turn.Unlock()
			}
		})
	}
	writers.Wait()
}

func TestKilledProcessLosesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "plaza.db")
	var acknowledged []social.PostID
	for _, posts := range []int{1, 300, 1500} { // the later ones cross checkpoints
		acknowledged = append(acknowledged, killAfter(t, path, posts)...)
		checkIntegrity(t, path)
		checkPosts(t, path, acknowledged)
	}
}

// killAfter ends a writing process with SIGKILL after it has acknowledged n posts, and returns
// their ids.
func killAfter(t *testing.T, path string, posts int) (acknowledged []social.PostID) {
	t.Helper()
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^$")
	child.Env = append(os.Environ(), childPath+"="+path)
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		post, err := social.ParsePostID(lines.Text())
		if err != nil {
			t.Fatalf("the child says %q", lines.Text())
		}
		if acknowledged = append(acknowledged, post); len(acknowledged) == posts {
			if err := child.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := child.Wait(); err == nil || len(acknowledged) < posts {
		t.Fatalf("the child ended by itself after %d posts: %v", len(acknowledged), err)
	}
	return acknowledged
}

func checkIntegrity(t *testing.T, path string) {
	t.Helper()
	db, err := sql.Open("sqlite3", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	var says string
	if err := db.QueryRowContext(t.Context(), `PRAGMA integrity_check`).Scan(&says); err != nil || says != "ok" {
		t.Fatalf("integrity_check says %q, %v", says, err)
	}
}

func checkPosts(t *testing.T, path string, due []social.PostID) {
	t.Helper()
	store := openAt(t, path)
	defer shut(t, store)
	posts, err := store.Posts(t.Context(), due)
	if err != nil || len(posts) != len(due) {
		t.Fatalf("%d of %d acknowledged posts are there: %v", len(posts), len(due), err)
	}
}

func TestWaitingForTheWriterEndsWithTheContext(t *testing.T) {
	store := openAt(t, filepath.Join(t.TempDir(), "plaza.db"))
	defer shut(t, store)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	var writers sync.WaitGroup
	for range 8 {
		writers.Go(func() {
			for {
				err := store.InsertUser(ctx, newUser(), event(social.EventUserSignedUp))
				if errors.Is(err, context.DeadlineExceeded) {
					return
				}
				if err != nil {
					t.Errorf("the error is %v, want that of the context", err)
					return
				}
			}
		})
	}
	writers.Wait()
	if err := store.Ping(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestALinkIsInUseWithItsFile: the lock is that of the file, whatever the path to it is.
func TestALinkIsInUseWithItsFile(t *testing.T) {
	t.Parallel()
	path, link := filepath.Join(t.TempDir(), "plaza.db"), filepath.Join(t.TempDir(), "link.db")
	store := openAt(t, path)
	defer shut(t, store)
	if err := os.Symlink(path, link); err != nil {
		t.Skip("this system has no symbolic links:", err)
	}
	if other, err := sqlite.Open(t.Context(), link); !errors.Is(err, sqlite.ErrInUse) {
		if err == nil {
			shut(t, other)
		}
		t.Errorf("opening a link to an open file: %v", err)
	}
}
