package mongotest

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// ownDatabase returns a database on a server of this test.
func ownDatabase(t *testing.T) *mongo.Database {
	t.Helper()

	return Connect(t, InDatabase(t, OwnServer(t).URI(), "town"))
}

// TestEmpty: collections and their indexes remain, except where it takes less time to create them
// again.
func TestEmpty(t *testing.T) {
	t.Parallel()

	ctx, db := t.Context(), ownDatabase(t)

	documents := map[string]int64{"a": 2, "b": 0, "c": mostDeleted, "d": mostDeleted + 1}
	for name, n := range documents {
		model := mongo.IndexModel{Keys: bson.D{{Key: "x", Value: 1}}}
		if _, err := db.Collection(name).Indexes().CreateOne(ctx, model); err != nil {
			t.Fatal(err)
		}

		if n == 0 {
			continue
		}

		if _, err := db.Collection(name).InsertMany(ctx, make([]struct{}, n)); err != nil {
			t.Fatal(err)
		}
	}

	found, err := filled(ctx, db)
	if err != nil || len(found) != 3 {
		t.Fatalf("%v (%v) have documents, want a, c and d", found, err)
	}

	for _, f := range found {
		if f.Documents != documents[f.Collection] {
			t.Errorf("%s has %d documents, want %d", f.Collection, f.Documents, documents[f.Collection])
		}
	}

	if err := empty(ctx, db); err != nil {
		t.Fatal(err)
	}

	for name, n := range documents {
		left, err := db.Collection(name).CountDocuments(ctx, bson.D{})
		indexes, listErr := db.Collection(name).Indexes().ListSpecifications(ctx)

		want := 2
		if n > mostDeleted {
			want = 0
		}

		if left != 0 || err != nil || len(indexes) != want || listErr != nil {
			t.Errorf("%s has %d documents (%v) and %d indexes (%v), want 0 and %d", name, left, err, len(indexes), listErr, want)
		}
	}
}

// TestDatabasesAreLeftToOthers: each database is given to one process, and dropped where the server
// stays.
func TestDatabasesAreLeftToOthers(t *testing.T) {
	ctx, db := t.Context(), ownDatabase(t)
	client := db.Client()

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
