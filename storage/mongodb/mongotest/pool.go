package mongotest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"
	"golang.org/x/sync/errgroup"

	"plaza/internal/testtime"
)

// pool holds the databases that [Reused] hands out, for all tests of this process.
var pool struct {
	mu     sync.Mutex
	client *mongo.Client // empties and drops databases
	free   []string      // names of unused databases; the last one was used last
}

// mostFree bounds the unused databases. Each has more than a hundred open files, which cost the
// server time.
const mostFree = 8

// Reused is [Database], but the database may come from an earlier test of this process. It then has
// that test's collections and indexes, without documents: MongoDB takes longer to create and drop
// the collections of one database than most tests run. Layouts share databases, because an index of
// one name is the same in all of them. The package's TestMain has to run its tests with [Tests].
func Reused(tb testing.TB) (uri, name string) {
	tb.Helper()

	uri, name = URI(tb), takeFree(tb.Name())

	tb.Cleanup(func() {
		if err := release(uri, name); err != nil {
			tb.Errorf("mongotest: emptying the database %s: %v", name, errors.Join(err, drop(uri, name)))
		}
	})

	return uri, name
}

// Tests runs the tests of a package, and then drops the databases that [Reused] made for them.
type Tests struct{ *testing.M }

// Run returns the exit code.
func (t Tests) Run() int {
	code := t.M.Run()
	if err := dropFree(); err != nil {
		fmt.Fprintln(os.Stderr, "mongotest: dropping databases:", err)
		code = max(code, 1)
	}

	return code
}

func takeFree(test string) string {
	pool.mu.Lock()
	defer pool.mu.Unlock()

	last := len(pool.free) - 1
	if last < 0 {
		return databaseName(test)
	}

	name := pool.free[last]
	pool.free = pool.free[:last]

	return name
}

// release empties a database and keeps it for a later test. It drops the one that has been unused
// for longest when there are too many.
func release(uri, name string) error {
	client, err := poolClient(uri)
	if err != nil {
		return err
	}

	ctx, cancel := context.WithTimeout(context.Background(), testtime.Patience())
	defer cancel()

	if err := empty(ctx, client.Database(name)); err != nil {
		return err
	}

	if oldest := keep(name); oldest != "" {
		return client.Database(oldest).Drop(ctx) //nolint:wrapcheck // the caller says what it is about
	}

	return nil
}

// keep adds a database to the unused ones, and takes the oldest one out if there are too many: ""
// for none.
func keep(name string) (oldest string) {
	pool.mu.Lock()
	defer pool.mu.Unlock()

	pool.free = append(pool.free, name)
	if len(pool.free) <= mostFree {
		return ""
	}

	oldest = pool.free[0]
	pool.free = slices.Delete(pool.free, 0, 1)

	return oldest
}

func poolClient(uri string) (*mongo.Client, error) {
	pool.mu.Lock()
	defer pool.mu.Unlock()

	if pool.client != nil {
		return pool.client, nil
	}

	var err error
	pool.client, err = mongo.Connect(options.Client().ApplyURI(uri).SetWriteConcern(writeconcern.Majority()))

	return pool.client, err //nolint:wrapcheck // the caller says what it is about
}

// dropFree drops all databases of the pool, and closes its connections: open connections would look
// like a leak.
func dropFree() error {
	pool.mu.Lock()
	defer pool.mu.Unlock()

	if pool.client == nil {
		return nil
	}

	ctx, cancel := context.WithTimeout(context.Background(), testtime.Patience())
	defer cancel()

	var errs []error
	for _, name := range pool.free {
		errs = append(errs, pool.client.Database(name).Drop(ctx))
	}

	errs = append(errs, pool.client.Disconnect(ctx))
	pool.client, pool.free = nil, nil

	return errors.Join(errs...)
}

// empty removes all documents of a database.
func empty(ctx context.Context, database *mongo.Database) error {
	names, err := database.ListCollectionNames(ctx, bson.D{})
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(emptyParallel)

	for _, name := range names {
		group.Go(func() error {
			_, err := database.Collection(name).DeleteMany(ctx, bson.D{})

			return err //nolint:wrapcheck // the caller says what it is about
		})
	}

	return errors.Join(err, group.Wait())
}

// emptyParallel is how many collections of a database are emptied concurrently. Each takes a
// connection.
const emptyParallel = 8
