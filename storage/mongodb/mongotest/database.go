package mongotest

import (
	"context"
	"crypto/rand"
	"errors"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/internal/testtime"
)

// Database returns the URI of a database for this test alone, on the server of [URI]. The database
// is dropped when the test ends: disconnect your client before that, in a Cleanup that is
// registered after this call.
func Database(tb testing.TB) (uri string) {
	tb.Helper()

	server, name := URI(tb), databaseName(tb.Name())

	tb.Cleanup(func() {
		if err := drop(server, name); err != nil {
			tb.Errorf("mongotest: dropping the database %s: %v", name, err)
		}
	})

	return InDatabase(tb, server, name)
}

// InDatabase returns the URI of a server's database. It gives clients as much time to find a primary
// as a slow machine may need.
func InDatabase(tb testing.TB, server, name string) (uri string) {
	tb.Helper()

	at, err := url.Parse(server)
	if err != nil {
		tb.Fatal(err)
	}

	query := at.Query()
	query.Set("serverSelectionTimeoutMS", strconv.FormatInt(testtime.Patience().Milliseconds(), 10))
	at.Path, at.RawQuery = "/"+name, query.Encode()

	return at.String()
}

// Connect returns the database that a URI names, with a client that is disconnected when the test
// ends.
func Connect(tb testing.TB, uri string) *mongo.Database {
	tb.Helper()

	client, err := mongo.Connect(options.Client().ApplyURI(uri))
	if err != nil {
		tb.Fatal(err)
	}

	tb.Cleanup(func() {
		if err := client.Disconnect(context.Background()); err != nil {
			tb.Error(err)
		}
	})

	return client.Database(NameIn(tb, uri))
}

// NameIn returns the name of the database that a URI names: "" for none.
func NameIn(tb testing.TB, uri string) string {
	tb.Helper()

	at, err := url.Parse(uri)
	if err != nil {
		tb.Fatal(err)
	}

	return strings.TrimPrefix(at.Path, "/")
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
