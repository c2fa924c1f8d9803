package mongotest

import (
	"context"
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// ownClient connects to a server of this test.
func ownClient(t *testing.T) *mongo.Client {
	t.Helper()

	client, err := mongo.Connect(options.Client().ApplyURI(OwnServer(t).URI()))
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() { _ = client.Disconnect(context.Background()) })

	return client
}

func TestEmptyKeepsCollectionsAndIndexes(t *testing.T) {
	t.Parallel()

	ctx, db := t.Context(), ownClient(t).Database("town")
	for _, name := range []string{"a", "b", "c"} {
		model := mongo.IndexModel{Keys: bson.D{{Key: "x", Value: 1}}}
		if _, err := db.Collection(name).Indexes().CreateOne(ctx, model); err != nil {
			t.Fatal(err)
		}
	}

	for _, name := range []string{"a", "c"} {
		if _, err := db.Collection(name).InsertMany(ctx, []bson.D{{}, {}}); err != nil {
			t.Fatal(err)
		}
	}

	names, err := filled(ctx, db)
	if slices.Sort(names); err != nil || !slices.Equal(names, []string{"a", "c"}) {
		t.Fatalf("%v (%v) have documents, want a and c", names, err)
	}

	if err := empty(ctx, db); err != nil {
		t.Fatal(err)
	}

	for _, name := range []string{"a", "b", "c"} {
		n, err := db.Collection(name).CountDocuments(ctx, bson.D{})
		indexes, listErr := db.Collection(name).Indexes().ListSpecifications(ctx)

		if n != 0 || err != nil || len(indexes) != 2 || listErr != nil {
			t.Errorf("%s has %d documents (%v) and %d indexes (%v), want 0 and 2", name, n, err, len(indexes), listErr)
		}
	}
}

// TestDatabasesAreLeftToOthers: each database is given to one process, and dropped where the server
// stays.
func TestDatabasesAreLeftToOthers(t *testing.T) {
	ctx, client := t.Context(), ownClient(t)
	db := client.Database("town")

	if err := db.CreateCollection(ctx, "a"); err != nil {
		t.Fatal(err)
	}

	takes := func(want string) {
		t.Helper()

		if name, err := takeLeft(ctx, client); name != want || err != nil {
			t.Errorf("took %q (%v), want %q", name, err, want)
		}
	}
	gives := func(collections int) {
		t.Helper()

		err := giveAway(ctx, client, db.Name())
		names, listErr := db.ListCollectionNames(ctx, bson.D{})

		if err != nil || listErr != nil || len(names) != collections {
			t.Errorf("gave away a database (%v), which has %d collections (%v), want %d", err, len(names), listErr, collections)
		}
	}

	t.Setenv(EnvTemporary, "true")
	takes("")
	gives(1)
	takes(db.Name())
	takes("")
	gives(1)
	t.Setenv(EnvTemporary, "")
	takes("")
	gives(0)
}
