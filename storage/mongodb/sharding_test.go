package mongodb_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"plaza/id"
	"plaza/social"
	"plaza/storage/mongodb"
	"plaza/storage/mongodb/mongotest"
	"plaza/storage/storagetest/adstest"
)

// routedLayouts are layouts that together have all collections and queries.
var routedLayouts = map[string]mongodb.Options{
	"documents, read, reverse":  {},
	"pages, cache, two":         mongodb.Walking(mongodb.Options{Comments: mongodb.TinyPages, Feeds: mongodb.FeedsCache, Graph: mongodb.GraphTwo}),
	"adaptive, hybrid, reverse": {Comments: mongodb.TinyAdaptive, Feeds: mongodb.FeedsHybrid, MergeAbove: 2},
}

// TestCommandsReachTheirShard calls everything on each layout: all commands contain the shard keys
// of their collections, except those that are listed with a reason. What is stored then has complete
// shard keys, and testdata/documents has such documents (see TestDocumentsOfEveryVersionAreKept).
func TestCommandsReachTheirShard(t *testing.T) {
	t.Parallel()
	mongotest.URI(t) // skips the test where its parts would be skipped
	seen := map[mongotest.Scatter]bool{}
	for name, o := range routedLayouts {
		t.Run(name, func(t *testing.T) {
			routing := mongotest.WatchRouting(t, mongodb.ShardKeys())
			o.Monitor = routing.Monitor(nil)
			w := newTownAlone(t, nil, o) // it gets the indexes of the keys
			callEverything(w)
			writePosts(w)
			if o.Feeds == "" { // all layouts keep ads alike
				adstest.CallEverything(t, w.Ads())
			}
			keepCollections(w)
			sortMembers(w, o)
			w.finish()
			if routing.Routed() < 1000 {
				t.Errorf("only %d filters and documents had their key", routing.Routed())
			}
			for s := range routing.Seen() {
				seen[s] = true
			}
			mustHaveCompleteKeys(t, w)
		})
	}
	for _, s := range mongotest.Scatters {
		if !seen[s] {
			t.Errorf("no %s %s by %q has been seen: is it still an exception?", s.Command, s.Collection, s.By)
		}
	}
}

// sortMembers lists members through a server that does not know whether all edges are upgraded.
func sortMembers(w *town, o mongodb.Options) {
	_, err := newTownAt(w.t, nil, w.uri, o).Members(w.ctx, lists(social.Page{Limit: 5}, social.CircleID{ID: id.New()}))
	w.ok(err)
}

// mustHaveCompleteKeys checks that every collection has a declared key, and that each unique index
// begins with it, or is the index on _id. The indexes of the keys can be created on real documents.
func mustHaveCompleteKeys(t *testing.T, w *town) {
	t.Helper()
	db := mongotest.Connect(t, w.uri)
	collections, err := db.ListCollectionNames(t.Context(), bson.D{})
	w.ok(err)
	if len(collections) < 15 {
		t.Fatalf("only %v", collections)
	}
	for _, collection := range collections {
		key, declared := mongodb.ShardKeys()[collection]
		if !declared {
			t.Errorf("%s has no declared shard key", collection)
		}
		if key == nil {
			continue
		}
		indexes, err := db.Collection(collection).Indexes().ListSpecifications(t.Context())
		w.ok(err)
		for _, index := range indexes {
			if index.Unique != nil && *index.Unique {
				checkUnique(t, collection, key, index.KeysDocument)
			}
		}
		create := bson.D{
			{Key: "createIndexes", Value: collection},
			{Key: "indexes", Value: bson.A{bson.D{{Key: "key", Value: key}, {Key: "name", Value: "shardKey"}}}},
		}
		if err := db.RunCommand(t.Context(), create).Err(); err != nil {
			t.Errorf("%s: the key's index: %v", collection, err)
		}
	}
}

// checkUnique checks MongoDB's condition for unique indexes: the fields of the key come first.
func checkUnique(t *testing.T, collection string, key bson.D, index bson.Raw) {
	t.Helper()
	elements, err := index.Elements()
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range key {
		if i >= len(elements) || elements[i].Key() != e.Key {
			t.Errorf("%s: the unique index %v does not begin with the shard key %v", collection, index, key)
			return
		}
	}
}

// TestWatchingFindsUntargetedCommands tests the watcher itself.
func TestWatchingFindsUntargetedCommands(t *testing.T) {
	t.Parallel()
	d := func(text string) bson.Raw {
		var document bson.Raw
		if err := bson.UnmarshalExtJSON([]byte(text), false, &document); err != nil {
			t.Fatal(err)
		}
		return document
	}
	for command, good := range map[string]bool{
		`{"find": "users", "filter": {"_id": 1}}`:                                                                                                true,
		`{"find": "users", "filter": {"_id": {"$in": [1]}}}`:                                                                                     true,
		`{"find": "users", "filter": {"_id": {"$gt": 1}}}`:                                                                                       false,
		`{"find": "users", "filter": {"name": "x"}}`:                                                                                             false,
		`{"find": "nobodys", "filter": {"_id": 1}}`:                                                                                              false,
		`{"find": "edges", "filter": {"owner": 1}}`:                                                                                              true,
		`{"find": "edges", "filter": {"$or": [{"owner": 1}, {"owner": 2}]}}`:                                                                     true,
		`{"find": "edges", "filter": {"$or": [{"owner": 1}, {"mute": 2}]}}`:                                                                      false,
		`{"update": "edges", "updates": [{"q": {"_id": 1, "owner": 2}, "u": {}}]}`:                                                               true,
		`{"update": "edges", "updates": [{"q": {"_id": 1, "owner": 2}, "u": {}, "upsert": true}]}`:                                               false,
		`{"update": "edges", "updates": [{"q": {"owner": 1, "other": 2}, "u": {}, "upsert": true}]}`:                                             true,
		`{"findAndModify": "edges", "query": {"_id": 1, "owner": 1}}`:                                                                            false,
		`{"delete": "edges", "deletes": [{"q": {"owner": 1}}, {"q": {"_id": 1}}]}`:                                                               false,
		`{"insert": "edges", "documents": [{"owner": 1}]}`:                                                                                       false,
		`{"aggregate": "users", "pipeline": [{"$match": {"_id": 1}}, {"$unionWith": {"coll": "users", "pipeline": []}}]}`:                        true,
		`{"aggregate": "users", "pipeline": [{"$match": {"_id": 1}}, {"$lookup": {"from": "users", "foreignField": "_id"}}]}`:                    true,
		`{"aggregate": "users", "pipeline": [{"$match": {"_id": 1}}, {"$lookup": {"from": "edges", "foreignField": "mute"}}]}`:                   false,
		`{"aggregate": "users", "pipeline": [{"$sort": {"_id": 1}}]}`:                                                                            false,
		`{"aggregate": "users", "pipeline": [{"$match": {"_id": 1}}, {"$unionWith": {"coll": "users", "pipeline": [{"$match": {"name": 1}}]}}]}`: false,
		`{"find": "jobs", "filter": {"due": 1}}`:                                                                                                 true,
	} {
		watched := new(failures)
		routing := mongotest.WatchRouting(watched, mongodb.ShardKeys())
		routing.Check(d(command))
		watched.end()
		if good != (len(watched.said) == 0) {
			t.Errorf("%s: %v", command, watched.said)
		}
	}
}

// failures is a testing.TB that only records errors.
type failures struct {
	testing.TB

	said     []string
	cleanups []func()
}

func (f *failures) Helper()              {}
func (f *failures) Cleanup(clean func()) { f.cleanups = append(f.cleanups, clean) }
func (f *failures) Errorf(format string, args ...any) {
	f.said = append(f.said, fmt.Sprintf(format, args...))
}

func (f *failures) end() {
	for _, clean := range f.cleanups {
		clean()
	}
}

func TestShardingNeedsACluster(t *testing.T) {
	t.Parallel()
	w := newTownOf(t, nil, mongodb.Options{Graph: mongodb.GraphTwo})
	err := w.Shard(w.ctx, func(collection string) { t.Errorf("%s was sharded", collection) })
	if !errors.Is(err, mongodb.ErrNotSharded) {
		t.Errorf("the error is %v", err)
	}
	commands := strings.ReplaceAll(strings.Join(w.ShardCommands(), "\n"), mongotest.NameIn(t, w.uri), "plaza") // its name is random
	for _, want := range []string{
		`sh.enableSharding("`, `.getCollection("followers").createIndex({"other": "hashed", "owner": 1})`,
		`.users", {"_id": "hashed"})`, `.comments", {"post": "hashed", "slug": 1})`,
	} {
		if !strings.Contains(commands, want) {
			t.Errorf("no %s in\n%s", want, commands)
		}
	}
	for _, no := range []string{"jobs", "settings", "threads", "newsList.", "adKeys"} {
		if strings.Contains(commands, no) {
			t.Errorf("%s is in\n%s", no, commands)
		}
	}
}
