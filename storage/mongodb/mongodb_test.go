package mongodb_test

import (
	"cmp"
	"testing"

	"go.mongodb.org/mongo-driver/v2/event"
	"go.uber.org/goleak"

	"plaza/internal/testtime"
	"plaza/storage"
	"plaza/storage/mongodb"
	"plaza/storage/mongodb/mongotest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(mongotest.Tests{M: m}, mongotest.IgnoreServer()) }

// open opens a store with the default layout on a separate database.
func open(tb testing.TB, monitor *event.CommandMonitor) *mongodb.Store {
	tb.Helper()
	return openFresh(tb, mongodb.Options{Monitor: monitor})
}

// openFresh opens a store on a separate database.
func openFresh(tb testing.TB, o mongodb.Options) *mongodb.Store {
	tb.Helper()
	o.Unjournaled = true
	return openAt(tb, mongotest.Reused(tb), o)
}

// openTwo opens two stores on one separate database.
func openTwo(t *testing.T, o mongodb.Options) []storage.Store {
	t.Helper()
	o.Unjournaled = true
	uri := mongotest.Reused(t)
	return []storage.Store{openAt(t, uri, o), openAt(t, uri, o)}
}

// patient gives a store all the time that this machine may need.
func patient(o mongodb.Options) mongodb.Options {
	o.Timeout = cmp.Or(o.Timeout, testtime.Patience())
	o.ConnectTimeout = cmp.Or(o.ConnectTimeout, testtime.Patience())
	o.Lease = cmp.Or(o.Lease, testtime.Patience())
	return o
}

func openAt(tb testing.TB, uri string, o mongodb.Options) *mongodb.Store {
	tb.Helper()
	store, err := mongodb.Open(tb.Context(), uri, patient(o))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := store.Close(); err != nil {
			tb.Error(err)
		}
	})
	return store
}
