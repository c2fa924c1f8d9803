package mongodb_test

import (
	"net/url"
	"testing"

	"go.mongodb.org/mongo-driver/v2/event"
	"go.uber.org/goleak"

	"plaza/storage/mongodb"
	"plaza/storage/mongodb/mongotest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m, mongotest.IgnoreServer()) }

// open opens a store on a database of its own.
func open(t testing.TB, monitor *event.CommandMonitor) *mongodb.Store {
	t.Helper()
	uri, database := mongotest.Database(t)
	return openAt(t, inDatabase(t, uri, database), monitor)
}

func openAt(t testing.TB, uri string, monitor *event.CommandMonitor) *mongodb.Store {
	t.Helper()
	store, err := mongodb.Open(t.Context(), uri, mongodb.Options{Monitor: monitor})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return store
}

// inDatabase puts the database's name into the URI.
func inDatabase(t testing.TB, uri, database string) string {
	t.Helper()
	u, err := url.Parse(uri)
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/" + database
	return u.String()
}
