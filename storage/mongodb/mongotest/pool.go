package mongotest

import (
	"cmp"
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

// EnvTemporary names the environment variable that says that the server ends with the tests. Test
// processes then leave the databases of [Reused] to each other, instead of dropping them.
const EnvTemporary = "PLAZA_TEST_MONGODB_TEMPORARY"

// pool holds the databases that [Reused] hands out, for all tests of this process.
var pool struct {
	mu     sync.Mutex
	client *mongo.Client // empties and drops databases
	free   []string      // names of unused databases; the last one was used last
}

// mostFree bounds the unused databases. Each has more than a hundred open files, which cost the
// server time.
const mostFree = 8

// Reused is [Database], but the database may come from an earlier test, also of another process on
// a server that ends with the tests. It then has
// that test's collections and indexes, without documents: MongoDB takes longer to create and drop
// the collections of one database than most tests run. Layouts share databases, because an index of
// one name is the same in all of them. The package's TestMain has to run its tests with [Tests].
func Reused(tb testing.TB) (uri string) {
	tb.Helper()

	server := URI(tb)

	name, err := takeFree(server, tb.Name())
	if err != nil {
		tb.Fatalf("mongotest: looking for a database that another process has left: %v", err)
	}

	tb.Cleanup(func() {
		if err := release(server, name); err != nil {
			tb.Errorf("mongotest: emptying the database %s: %v", name, errors.Join(err, drop(server, name)))
		}
	})

	return InDatabase(tb, server, name)
}

// Tests runs the tests of a package, and then drops the databases that [Reused] made for them, or
// leaves them to another package.
type Tests struct{ *testing.M }

// Run returns the exit code.
func (t Tests) Run() int {
	code := t.M.Run()
	if err := giveAllAway(); err != nil {
		fmt.Fprintln(os.Stderr, "mongotest: giving databases away:", err)
		code = max(code, 1)
	}

	return code
}

// takeFree takes a database that a test of this process has left, or one of another process, or
// makes a new name.
func takeFree(uri, test string) (string, error) {
	if name := takeOwn(); name != "" {
		return name, nil
	}

	client, err := poolClient(uri)
	if err != nil {
		return "", err
	}

	ctx, cancel := context.WithTimeout(context.Background(), testtime.Patience())
	defer cancel()

	name, err := takeLeft(ctx, client)

	return cmp.Or(name, databaseName(test)), err
}

// takeOwn takes a database that this process has left: "" for none.
func takeOwn() string {
	pool.mu.Lock()
	defer pool.mu.Unlock()

	last := len(pool.free) - 1
	if last < 0 {
		return ""
	}

	name := pool.free[last]
	pool.free = pool.free[:last]

	return name
}

// leftDatabase is a database that a process has emptied and left to others.
type leftDatabase struct {
	Name string `bson:"_id"`
}

// left is where processes leave databases.
func left(client *mongo.Client) *mongo.Collection {
	return client.Database("plaza_tests").Collection("left")
}

// takeLeft takes a database that another process has left: "" for none.
func takeLeft(ctx context.Context, client *mongo.Client) (string, error) {
	if os.Getenv(EnvTemporary) == "" {
		return "", nil
	}

	var free leftDatabase

	err := left(client).FindOneAndDelete(ctx, bson.D{}).Decode(&free)
	if errors.Is(err, mongo.ErrNoDocuments) {
		return "", nil
	}

	return free.Name, err //nolint:wrapcheck // the caller says what it is about
}

// giveAway leaves an empty database to other processes, or drops it if the server stays.
func giveAway(ctx context.Context, client *mongo.Client, name string) error {
	if os.Getenv(EnvTemporary) == "" {
		return client.Database(name).Drop(ctx) //nolint:wrapcheck // the caller says what it is about
	}

	_, err := left(client).InsertOne(ctx, leftDatabase{name})

	return err //nolint:wrapcheck // the caller says what it is about
}

// release empties a database and keeps it for a later test. It gives the one away that has been
// unused for longest when there are too many.
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
		return giveAway(ctx, client, oldest)
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

// giveAllAway gives all databases of the pool away, and closes its connections: open connections would
// look like a leak.
func giveAllAway() error {
	pool.mu.Lock()
	defer pool.mu.Unlock()

	if pool.client == nil {
		return nil
	}

	ctx, cancel := context.WithTimeout(context.Background(), testtime.Patience())
	defer cancel()

	var errs []error
	for _, name := range pool.free {
		errs = append(errs, giveAway(ctx, pool.client, name))
	}

	errs = append(errs, pool.client.Disconnect(ctx))
	pool.client, pool.free = nil, nil

	return errors.Join(errs...)
}

// empty removes all documents of a database.
func empty(ctx context.Context, database *mongo.Database) error {
	found, err := filled(ctx, database)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(emptyParallel)

	for _, f := range found {
		group.Go(func() error {
			collection := database.Collection(f.Collection)
			if f.Documents > mostDeleted {
				return collection.Drop(ctx) //nolint:wrapcheck // the caller says what it is about
			}

			_, err := collection.DeleteMany(ctx, bson.D{})

			return err //nolint:wrapcheck // the caller says what it is about
		})
	}

	return errors.Join(err, group.Wait())
}

const (
	// emptyParallel is how many collections of a database are emptied concurrently. Each takes a
	// connection.
	emptyParallel = 8

	// mostDeleted is how many documents are deleted one by one. The next test creates a collection
	// with more in less time, with its indexes.
	mostDeleted = 2000
)

// contents says how many documents a collection has, as far as MongoDB knows without counting them.
type contents struct {
	Collection string
	Documents  int64
}

// filled returns the collections that have documents. It asks for all of them in one command: most
// tests fill only a few, and deleting nothing costs as much as any other command.
func filled(ctx context.Context, database *mongo.Database) ([]contents, error) {
	names, err := database.ListCollectionNames(ctx, bson.D{})
	if err != nil || len(names) == 0 {
		return nil, err //nolint:wrapcheck // the caller says what it is about
	}

	pipeline := countOf(names[0])
	for _, name := range names[1:] {
		union := bson.D{{Key: "coll", Value: name}, {Key: "pipeline", Value: countOf(name)}}
		pipeline = append(pipeline, bson.D{{Key: "$unionWith", Value: union}})
	}

	cursor, err := database.Collection(names[0]).Aggregate(ctx, pipeline)
	if err != nil {
		return nil, err //nolint:wrapcheck // the caller says what it is about
	}

	var found []contents
	err = cursor.All(ctx, &found)

	return found, err //nolint:wrapcheck // the caller says what it is about
}

// countOf is a pipeline that returns a collection's contents if it has a document.
func countOf(collection string) mongo.Pipeline {
	name := bson.D{{Key: "$literal", Value: collection}}

	return mongo.Pipeline{
		{{Key: "$collStats", Value: bson.D{{Key: "count", Value: bson.D{}}}}},
		{{Key: "$match", Value: bson.D{{Key: "count", Value: bson.D{{Key: "$gt", Value: 0}}}}}},
		{{Key: "$project", Value: bson.D{{Key: "collection", Value: name}, {Key: "documents", Value: "$count"}}}},
	}
}
