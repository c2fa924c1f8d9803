package mongodb

import (
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"plaza/storage/mongodb/internal/mdb"
	"plaza/storage/mongodb/mongotest"
)

// TestIndexesAreCompressed: WiredTiger compresses the blocks of all indexes, except where the
// deployment refuses its options, here for edges, and in the two tiny collections that the first
// heartbeat creates.
func TestIndexesAreCompressed(t *testing.T) {
	t.Parallel()
	server := mongotest.OwnServer(t, mongotest.WithFailPoints())
	const invalidOptions = 72
	mongotest.FailCommand(t, mongotest.Connect(t, server.URI()).Client(), mdb.Doc("times", 1),
		mdb.Doc("failCommands", bson.A{"create"}, "namespace", "plaza.edges", "errorCode", invalidOptions))
	db := openOn(t, server.URI(), Options{}).posts.Database()
	names := must(db.ListCollectionNames(t.Context(), mdb.Doc()))(t)
	if len(names) < 30 {
		t.Errorf("only %d collections: %v", len(names), names)
	}
	for _, name := range names {
		want := !slices.Contains([]string{"edges", "settings", "servers"}, name)
		for index, made := range creationOfIndexes(t, db.Collection(name)) {
			if got := strings.Contains(made, "block_compressor=snappy"); got != want {
				t.Errorf("%t, whether the index %s of %s is compressed", got, index, name)
			}
		}
	}
}

// creationOfIndexes returns the options of WiredTiger that the indexes of a collection have.
func creationOfIndexes(t *testing.T, c *mongo.Collection) map[string]string {
	t.Helper()
	var stats struct {
		IndexDetails map[string]struct {
			CreationString string `bson:"creationString"`
		} `bson:"indexDetails"`
	}
	ok(t, c.Database().RunCommand(t.Context(), mdb.Doc("collStats", c.Name())).Decode(&stats))
	made := map[string]string{}
	for index, details := range stats.IndexDetails {
		made[index] = details.CreationString
	}
	if made["_id_"] == "" {
		t.Errorf("%s has the indexes %v", c.Name(), made)
	}
	return made
}
