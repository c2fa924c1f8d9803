package sqlite

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"plaza/id"
	"plaza/social"
	"plaza/storage"
	"plaza/storage/sqlite/internal/sqldb"
	"plaza/storage/storagetest"
)

// opener opens stores, each on a path of its own.
func opener(path string) storagetest.Open {
	return func(t *testing.T) storage.Store {
		t.Helper()
		store, err := Open(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = store.Close() })
		return store
	}
}

// TestNothingIsLeftOfTheDeleted deletes a user who has used every feature, and searches all tables:
// the user's id, handle, name and texts may be only in the marker, and the id in the log's entries
// about the deletion itself.
func TestNothingIsLeftOfTheDeleted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "plaza.db")
	store, needles := storagetest.DeleteLife(t, opener(path))
	mustNotContain(t, path, needles)
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if found := storagetest.Contains(file, needles[len(needles)-1:]); len(found) > 0 {
		t.Errorf("free parts of the file still have %v", found)
	}
}

// TestTheDeletedLeaveTheLog deletes a user, after which the server is quiet: within two minutes,
// nothing is left in the write-ahead log.
func TestTheDeletedLeaveTheLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "plaza.db")
	synctest.Test(t, func(t *testing.T) {
		store, err := Open(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		star, _ := signUpMany(t, store, 0)
		ctx, stop := context.WithCancel(t.Context())
		go store.Work(ctx)
		synctest.Wait()
		if err := store.DeleteUser(t.Context(), star, social.Event{ID: social.EventID{ID: id.New()}, Kind: social.EventUserDeleted}); err != nil {
			t.Fatal(err)
		}
		<-time.After(2 * time.Minute)
		synctest.Wait()
		log, err := os.ReadFile(path + "-wal")
		if err != nil || len(log) > 0 {
			t.Errorf("%d bytes are in the log, %v", len(log), err)
		}
		if left, err := store.IsDeleting(t.Context(), star); left || err != nil {
			t.Errorf("the user is still being deleted: %t, %v", left, err)
		}
		stop()
		synctest.Wait()
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestDeletingWhileOthersWrite lets others write meanwhile. One pass is enough, because only one
// connection writes.
func TestDeletingWhileOthersWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "plaza.db")
	_, needles := storagetest.DeletionRace(t, opener(path), func(storage.Store) {})
	mustNotContain(t, path, needles)
}

func TestDeletingPopularUser(t *testing.T) {
	took := storagetest.DeleteStar(t, opener(filepath.Join(t.TempDir(), "plaza.db")), 20_000, func() {})
	t.Logf("20,000 followers in %v", took)
}

// mustNotContain searches all rows.
func mustNotContain(t *testing.T, path string, needles []string) {
	t.Helper()
	var tables []string
	query(t, path, `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`, func(scan sqldb.Scan) {
		var name string
		if err := scan(&name); err != nil {
			t.Fatal(err)
		}
		tables = append(tables, name)
	})
	if len(tables) < 20 {
		t.Fatalf("only %v", tables)
	}
	seen := 0
	for _, table := range tables {
		columns := columnsOf(t, path, table)
		query(t, path, `SELECT `+strings.Join(columns, ", ")+` FROM `+table, func(scan sqldb.Scan) {
			seen++
			row, to := make([]any, len(columns)), make([]any, len(columns))
			for i := range row {
				to[i] = &row[i]
			}
			if err := scan(to...); err != nil {
				t.Fatal(err)
			}
			stored := fmt.Sprintf("%s", row) // bytes as they are
			allowed := table == "deleted_users" || table == "events" && (strings.Contains(stored, "user.deleted") || strings.Contains(stored, "session.ended"))
			if found := storagetest.Contains([]byte(stored), needles); len(found) > 0 && !allowed {
				t.Errorf("%s has %v: %q", table, found, row)
			}
		})
	}
	if seen < 10 {
		t.Errorf("only %d rows were looked at", seen)
	}
}

func columnsOf(t *testing.T, path, table string) (columns []string) {
	t.Helper()
	query(t, path, `SELECT name FROM pragma_table_info('`+table+`')`, func(scan sqldb.Scan) {
		var name string
		if err := scan(&name); err != nil {
			t.Fatal(err)
		}
		columns = append(columns, name)
	})
	return columns
}

// fuse is a context that is cancelled after a number of calls of Err, to interrupt the work at that
// point.
type fuse struct {
	context.Context //nolint:containedctx // a fuse is a context

	looks atomic.Int64
	blow  context.CancelFunc
}

func newFuse(ctx context.Context, looks int) *fuse {
	ctx, blow := context.WithCancel(ctx)
	f := &fuse{Context: ctx, blow: blow}
	f.looks.Store(int64(looks))
	return f
}

func (f *fuse) Done() <-chan struct{} {
	if f.looks.Add(-1) == 0 {
		f.blow()
	}
	return f.Context.Done()
}

// TestInterruptedDeletionsResume interrupts the work at many points, as a killed process would, and
// starts it again.
func TestInterruptedDeletionsResume(t *testing.T) {
	path := filepath.Join(t.TempDir(), "plaza.db")
	store, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	star, fans := signUpMany(t, store, 3*sqldb.Batch)
	if err := store.DeleteUser(t.Context(), star, social.Event{ID: social.EventID{ID: id.New()}, Kind: social.EventUserDeleted}); err != nil {
		t.Fatal(err)
	}
	lives := 1
	for looks := 100; store.deleteLeft(newFuse(t.Context(), looks), star) != nil; lives++ {
		looks += looks / 4
		if lives%5 > 0 {
			continue
		}
		if err := store.Close(); err != nil {
			t.Fatal(err)
		}
		if store, err = Open(t.Context(), path); err != nil {
			t.Fatal(err)
		}
	}
	if left, err := store.IsDeleting(t.Context(), star); err != nil || left || lives < 5 {
		t.Fatalf("after %d lives: something is left %t, %v", lives, left, err)
	}
	users, err := store.Users(t.Context(), fans)
	if err != nil || len(users) != len(fans) {
		t.Fatalf("%d of %d, %v", len(users), len(fans), err)
	}
	for _, u := range users {
		if u.FollowingCount != 0 {
			t.Errorf("%v follows %d", u.ID, u.FollowingCount)
		}
	}
}

// signUpMany makes a user with n followers.
func signUpMany(t *testing.T, store *Store, n int) (star social.UserID, fans []social.UserID) {
	t.Helper()
	var users []social.NewUser
	var memberships []social.Membership
	var edges []social.EdgeID
	for i := range n + 1 {
		u := social.User{ID: social.UserID{ID: id.New()}, Handle: fmt.Sprint("u", i), WallPolicy: social.WallEveryone}
		circle := social.NewBuiltInCircle(u.ID)
		users = append(users, social.NewUser{User: u, Following: circle})
		if i > 0 {
			fans = append(fans, u.ID)
			memberships = append(memberships, social.Membership{Circle: circle.ID, Owner: u.ID, Member: users[0].User.ID})
			edges = append(edges, social.EdgeID{ID: id.At(time.Now())})
		}
	}
	if _, err := store.ImportUsers(t.Context(), users); err != nil {
		t.Fatal(err)
	}
	if _, err := store.ImportMemberships(t.Context(), memberships, edges); err != nil {
		t.Fatal(err)
	}
	return users[0].User.ID, fans
}
