package mongodb_test

import (
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/social"
	"plaza/storage/mongodb"
	"plaza/storage/mongodb/mongotest"
)

// rawDatabase returns a database with a client that is independent of Plaza.
func rawDatabase(t *testing.T) (uri string, db *mongo.Database) {
	t.Helper()
	uri = mongotest.Database(t)
	return uri, mongotest.Connect(t, uri)
}

// indexesIn returns the definitions of all indexes, by collection and name.
func indexesIn(t *testing.T, db *mongo.Database) map[string]map[string]bson.M {
	t.Helper()
	names, err := db.ListCollectionNames(t.Context(), bson.D{})
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]map[string]bson.M{}
	for _, name := range names {
		cursor, err := db.Collection(name).Indexes().List(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var found []bson.M
		if err := cursor.All(t.Context(), &found); err != nil {
			t.Fatal(err)
		}
		all[name] = map[string]bson.M{}
		for _, index := range found {
			all[name][index["name"].(string)] = index
		}
	}
	return all
}

// TestRetentionOfEventsIsChangedWhileServersRun: the last setting of any server holds, even if
// servers without a setting start later.
func TestRetentionOfEventsIsChangedWhileServersRun(t *testing.T) {
	t.Parallel()
	uri, db := rawDatabase(t)
	expires := func() any { return indexesIn(t, db)["events"]["at"]["expireAfterSeconds"] }
	first := openAt(t, uri, mongodb.Options{})
	if got := expires(); got != int32(social.DefaultEventRetention/time.Second) {
		t.Errorf("a new database keeps events for %v s", got)
	}
	second := openAt(t, uri, mongodb.Options{})
	for _, hours := range []int{48, 48, 24, 720, 36} {
		if err := second.KeepEvents(t.Context(), time.Duration(hours)*time.Hour); err != nil {
			t.Fatal(err)
		}
		if got := expires(); got != int32(hours*3600) {
			t.Errorf("events are kept for %v s, want %d h", got, hours)
		}
		(&town{Store: first, t: t, ctx: t.Context()}).people(1)
	}
	openAt(t, uri, mongodb.Options{})
	if got := expires(); got != int32(36*3600) {
		t.Errorf("another server has changed it to %v s", got)
	}
}

// TestChangedIndexesAreReplaced: several servers concurrently open a database whose indexes have
// today's names but other definitions, while another server uses it.
func TestChangedIndexesAreReplaced(t *testing.T) {
	t.Parallel()
	uri, db := rawDatabase(t)
	w := &town{Store: openAt(t, uri, mongodb.Options{Feeds: mongodb.FeedsBucket}), t: t, ctx: t.Context()}
	people := w.people(20)
	want := indexesIn(t, db)
	for _, old := range []struct {
		collection, name string
		keys             bson.D
		options          *options.IndexOptionsBuilder
	}{
		{"newsBuckets", "user_upper_lower", bson.D{{Key: "user", Value: 1}, {Key: "upper", Value: -1}, {Key: "lower", Value: -1}}, options.Index()},
		{"users", "handle", bson.D{{Key: "handle", Value: 1}}, options.Index().SetUnique(true)},
		{"users", "nameOrder", bson.D{{Key: "nameOrder", Value: 1}}, options.Index()},
		{"sessions", "expiresAt", bson.D{{Key: "expiresAt", Value: 1}}, options.Index().SetExpireAfterSeconds(5)},
		{"jobs", "due", bson.D{{Key: "due", Value: 1}}, options.Index().SetPartialFilterExpression(bson.D{{Key: "attempts", Value: bson.D{{Key: "$gt", Value: 0}}}})},
	} {
		indexes := db.Collection(old.collection).Indexes()
		if err := indexes.DropOne(t.Context(), old.name); err != nil {
			t.Fatal(err)
		}
		if _, err := indexes.CreateOne(t.Context(), mongo.IndexModel{Keys: old.keys, Options: old.options.SetName(old.name)}); err != nil {
			t.Fatal(err)
		}
	}
	var servers sync.WaitGroup
	for range 4 {
		servers.Go(func() {
			s, err := mongodb.Open(t.Context(), uri, patient(mongodb.Options{Heartbeat: 20 * time.Millisecond}))
			if err != nil {
				t.Error(err)
				return
			}
			_ = s.Close()
		})
	}
	servers.Wait()
	if diff := cmp.Diff(want, indexesIn(t, db)); diff != "" {
		t.Errorf("the indexes differ from new ones (-new +replaced):\n%s", diff)
	}
	found, err := w.UsersByHandle(t.Context(), []string{people[0].User.Handle})
	if err != nil || len(found) != 1 {
		t.Errorf("the server that was running finds %d users: %v", len(found), err)
	}
}
