package mongotest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.uber.org/goleak"

	"plaza/internal/testtime"
)

const (
	// EnvURI names the environment variable with the URI of a replica set for the tests.
	EnvURI = "PLAZA_TEST_MONGODB_URI"

	// None is the value of EnvURI for running the tests without MongoDB.
	None = "none"

	// waitLimit bounds the wait for a MongoDB on an idle machine, its download included.
	waitLimit = 5 * time.Minute
)

// shared is this process's one server. It is never stopped: it ends with the process.
var shared = sync.OnceValues(func() (string, error) {
	switch uri := os.Getenv(EnvURI); uri {
	case "":
	case None:
		return "", fmt.Errorf("%w: %s=%s", ErrUnavailable, EnvURI, None)
	default:
		return uri, nil
	}

	ctx, cancel := context.WithTimeout(context.Background(), testtime.Scale(waitLimit))
	defer cancel()

	server, err := Start(ctx)
	if err != nil {
		return "", err
	}

	return server.URI(), nil
})

// URI returns the connection string of a MongoDB replica set: that of PLAZA_TEST_MONGODB_URI, or
// else of a server that is started once for the whole test process. Without a MongoDB the test is
// skipped, or fails if CI=true. Use [Database] for a separate database.
func URI(tb testing.TB) string {
	tb.Helper()

	uri, err := shared()
	if err != nil {
		giveUp(tb, err)
	}

	return uri
}

// Database returns the connection string of a MongoDB replica set (see [URI]) and the name of a
// database for this test alone. The database is dropped when the test ends: disconnect your client
// before that, in a Cleanup that is registered after this call.
func Database(tb testing.TB) (uri, name string) {
	tb.Helper()

	uri = URI(tb)
	name = databaseName(tb.Name())

	tb.Cleanup(func() {
		if err := drop(uri, name); err != nil {
			tb.Errorf("mongotest: dropping the database %s: %v", name, err)
		}
	})

	return uri, name
}

// StandaloneURI starts a mongod that is not a replica set, for this test alone, and returns its
// connection string. It is skipped, or fails, as [URI] does.
func StandaloneURI(tb testing.TB) string {
	tb.Helper()

	return OwnServer(tb, Standalone()).URI()
}

// OwnServer starts a server for this test alone, which may do anything with it. The server is
// stopped when the test ends. The test is skipped, or fails, as with [URI].
func OwnServer(tb testing.TB, opts ...Option) *Server {
	tb.Helper()

	if os.Getenv(EnvURI) == None {
		URI(tb) // says so, and does not return
	}

	ctx, cancel := context.WithTimeout(context.Background(), testtime.Scale(waitLimit))
	defer cancel()

	server, err := Start(ctx, opts...)
	if err != nil {
		giveUp(tb, err)
	}

	tb.Cleanup(func() {
		if err := server.Stop(); err != nil {
			tb.Errorf("mongotest: %v", err)
		}
	})

	return server
}

// IgnoreServer makes goleak ignore the goroutine that lives as long as a server of this package,
// for a TestMain with goleak.VerifyTestMain(m, mongotest.IgnoreServer()).
func IgnoreServer() goleak.Option {
	return goleak.IgnoreAnyFunction("plaza/storage/mongodb/mongotest.(*Server).wait")
}

// giveUp ends the test. If no MongoDB is available, it skips the test, unless in CI; every other
// error is a failure.
func giveUp(tb testing.TB, err error) {
	tb.Helper()

	if !errors.Is(err, ErrUnavailable) || os.Getenv("CI") == "true" {
		tb.Fatalf("mongotest: %v", err)
	}

	tb.Skipf("\n"+
		"*** SKIPPED: this test needs MongoDB, and there is none.\n"+
		"*** Install mongod, or point %s to a replica set.\n"+
		"*** %v", EnvURI, err)
}

// drop removes a database over a connection of its own: a connection that stays open would look
// like a leak.
func drop(uri, name string) error {
	ctx, cancel := context.WithTimeout(context.Background(), testtime.Patience())
	defer cancel()

	client, err := mongo.Connect(options.Client().ApplyURI(uri))
	if err != nil {
		return err //nolint:wrapcheck // the caller says what it is about
	}

	return errors.Join(client.Database(name).Drop(ctx), client.Disconnect(ctx))
}

// databaseName makes a unique name that contains the test's name: at most 63 bytes of letters,
// digits and underscores.
func databaseName(test string) string {
	const longest = 63

	name := "test_" + strings.ToLower(rand.Text()[:12]) + "_" + strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9':
			return r
		default:
			return '_'
		}
	}, test)

	return name[:min(len(name), longest)]
}
