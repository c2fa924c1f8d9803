package mongodb

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"plaza/storage/mongodb/mongotest"
)

// TestShardingStepByStep: each collection has the index of its key before it is sharded. A run that
// was stopped can be continued, and running it again changes nothing.
func TestShardingStepByStep(t *testing.T) {
	t.Parallel()
	s := openAlone(t, Options{Graph: GraphTwo, Comments: CommentsPages, Feeds: FeedsHybrid})
	broken := errors.New("no config server")
	fails := true
	var sharded []string
	run := func(command bson.D) error {
		namespace, _ := command[0].Value.(string)
		_, collection, _ := strings.Cut(namespace, ".")
		switch {
		case command[0].Key == "enableSharding":
			return nil
		case collection == "posts" && fails:
			fails = false
			return broken
		}
		indexes := must(s.settings.Database().Collection(collection).Indexes().ListSpecifications(t.Context()))(t)
		key := must(bson.Marshal(ShardKeys()[collection]))(t)
		hasKey := false
		for _, index := range indexes {
			hasKey = hasKey || index.KeysDocument.String() == bson.Raw(key).String()
		}
		if !hasKey {
			t.Errorf("%s has no index of its key %v", collection, ShardKeys()[collection])
		}
		return nil
	}
	done := func(collection string) { sharded = append(sharded, collection) }
	if err := s.shardBy(t.Context(), run, done); err == nil || slices.Contains(sharded, "posts") || !slices.Contains(sharded, "edges") {
		t.Errorf("the first time: %v after %v", err, sharded)
	}
	for range 2 {
		sharded = nil
		ok(t, s.shardBy(t.Context(), run, done))
		for _, collection := range []string{"posts", "edges", "followers", "threads.pages", "newsLists", "adZones"} {
			if !slices.Contains(sharded, collection) {
				t.Errorf("%s is not among %v", collection, sharded)
			}
		}
	}
}

// TestUsersAreFoundThroughHandles: the queries for a cluster give the same answers, use indexes,
// and each of their parts reaches only one shard.
func TestUsersAreFoundThroughHandles(t *testing.T) {
	t.Parallel()
	routing := mongotest.WatchRouting(t, ShardKeys())
	s := openInside(t, Options{Monitor: routing.Monitor(nil)})
	author, followers := fans(t, s, 20)
	var handles []string
	for _, u := range must(s.Users(t.Context(), append(followers, author)))(t) {
		handles = append(handles, u.Handle)
	}
	handles = append(handles, "nobody")
	plain := must(s.UsersByHandle(t.Context(), handles))(t)
	s.member.Routed = true
	if routed := must(s.UsersByHandle(t.Context(), handles))(t); len(routed) != 21 || !reflect.DeepEqual(plain, routed) {
		t.Errorf("%d users through handles, and %d by the index", len(routed), len(plain))
	}
}
