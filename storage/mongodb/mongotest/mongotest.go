package mongotest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

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
