package mongodb_test

import (
	"context"
	"errors"
	"os"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"

	"plaza/bench/measure"
	"plaza/storage"
	"plaza/storage/mongodb"
	"plaza/storage/mongodb/mongotest"
	"plaza/storage/storagetest"
)

// livedLayouts include every layout of comments and the graph, and those of feeds that store something.
var livedLayouts = map[string]mongodb.Options{
	"cache, documents, reverse": {Feeds: mongodb.FeedsCache},
	"hybrid, embedded, two":     {Feeds: mongodb.FeedsHybrid, Comments: mongodb.CommentsEmbedded, Graph: mongodb.GraphTwo, MergeAbove: 1},
	"bucket, pages, reverse":    {Feeds: mongodb.TinyBucket, Comments: mongodb.TinyPages},
	"month, adaptive, two":      {Feeds: mongodb.TinyMonth, Comments: mongodb.TinyAdaptive, Graph: mongodb.GraphTwo},
}

// TestNothingIsLeftOfTheDeleted deletes a user who has used every feature, and searches all
// collections: the user's id, handle, name and texts may be only in the marker and in the event
// log, which expires after a month.
func TestNothingIsLeftOfTheDeleted(t *testing.T) {
	t.Parallel()
	for name, o := range livedLayouts {
		t.Run(name, func(t *testing.T) {
			uri := mongotest.Reused(t)
			store, needles := storagetest.DeleteLife(t, func(t *testing.T) storage.Store {
				t.Helper()
				return openAt(t, uri, o)
			})
			sweep(t, store)
			mustNotContain(t, uri, needles)
		})
	}
}

// TestDeletingWhileOthersWrite runs on one server and on two, where locks within one process have
// no effect on the other.
func TestDeletingWhileOthersWrite(t *testing.T) {
	t.Parallel()
	for name, servers := range map[string][]mongodb.Options{
		"read, documents":  {{}, {}},
		"month, tiny, two": {livedLayouts["month, adaptive, two"]},
	} {
		t.Run(name, func(t *testing.T) {
			uri := mongotest.Reused(t)
			open := func(t *testing.T) storage.Store {
				t.Helper()
				var stores []storage.Store
				for _, o := range servers {
					stores = append(stores, openAt(t, uri, o))
				}
				return storagetest.Several(stores...)
			}
			one := openAt(t, uri, servers[0])
			_, needles := storagetest.DeletionRace(t, open, func(storage.Store) { sweep(t, one) })
			mustNotContain(t, uri, needles)
		})
	}
}

// sweep immediately runs the job that is due some minutes after a deletion.
func sweep(t *testing.T, store storage.Store) {
	t.Helper()
	if err := store.(*mongodb.Store).SweepNow(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := storagetest.Settle(t.Context(), store); err != nil {
		t.Fatal(err)
	}
}

// mustNotContain searches all collections except the event log.
func mustNotContain(t *testing.T, uri string, needles []string) {
	t.Helper()
	db := mongotest.Connect(t, uri)
	names, err := db.ListCollectionNames(t.Context(), bson.D{})
	if err != nil || len(names) < 15 {
		t.Fatalf("%v, %v", names, err)
	}
	seen := 0
	for _, name := range slices.DeleteFunc(names, func(name string) bool { return name == "events" }) {
		cursor, err := db.Collection(name).Find(t.Context(), bson.D{})
		if err != nil {
			t.Fatal(err)
		}
		var docs []bson.Raw
		if err := cursor.All(t.Context(), &docs); err != nil {
			t.Fatal(err)
		}
		for _, d := range docs {
			seen++
			if gone, ok := d.Lookup("gone").BooleanOK(); ok && gone {
				continue
			}
			if found := storagetest.Contains(d, needles); len(found) > 0 {
				t.Errorf("%s has %v: %v", name, found, d)
			}
		}
	}
	if seen < 10 {
		t.Errorf("only %d documents were searched", seen)
	}
}

// TestDeletingPopularUser deletes a user with 20,000 followers, or as many as the environment says.
func TestDeletingPopularUser(t *testing.T) {
	t.Parallel()
	size := 5_000
	if text := os.Getenv(envFollowers); text != "" {
		var err error
		if size, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	for name, o := range map[string]mongodb.Options{
		"read, reverse": {},
		"hybrid, two":   {Feeds: mongodb.FeedsHybrid, Graph: mongodb.GraphTwo},
	} {
		t.Run(name, func(t *testing.T) {
			if name != "read, reverse" && size == 5_000 {
				t.Skip("to save time: TestNothingIsLeftOfTheDeleted has this layout, too")
			}
			meter, err := measure.NewMeter(t.Context(), plainClient(t))
			if err != nil {
				t.Fatal(err)
			}
			var commands atomic.Int64
			var before measure.Reading
			o.Monitor = &event.CommandMonitor{Started: func(context.Context, *event.CommandStartedEvent) { commands.Add(1) }}
			took := storagetest.DeleteStar(t, fresh(t, o), size, func() {
				before, err = meter.Read(t.Context())
				commands.Store(0)
			})
			after, err2 := meter.Read(t.Context())
			if err := errors.Join(err, err2); err != nil {
				t.Fatal(err)
			}
			t.Logf("%d followers are gone after %v and %d commands; CPU: %v of the server, %v of mongod", size, took.Round(time.Millisecond), commands.Load(),
				(after.Server - before.Server).Round(time.Millisecond), (after.Mongod - before.Mongod).Round(time.Millisecond))
		})
	}
}
