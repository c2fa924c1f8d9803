package mongodb_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"plaza/storage/mongodb"
	"plaza/storage/mongodb/mongotest"
)

// reopen opens the database with a layout, and returns the error without closing words.
func reopen(t *testing.T, uri, layout string) error {
	t.Helper()
	store, err := mongodb.Open(t.Context(), uri, mongodb.Options{Feeds: layout})
	if err == nil {
		err = store.Close()
	}
	return err
}

func TestOpenRefusesUnknownLayouts(t *testing.T) {
	// Before anything is asked of the database: there is none at this address.
	err := reopen(t, "mongodb://127.0.0.1:1/plaza", "monthly")
	if err == nil || !strings.Contains(err.Error(), `no feed layout "monthly"`) || !strings.Contains(err.Error(), mongodb.FeedsRead) {
		t.Errorf("%v names neither the layout nor those that there are", err)
	}
}

func TestTheFirstServerRecordsTheLayout(t *testing.T) {
	uri, database := mongotest.Database(t)
	uri = inDatabase(t, uri, database)
	settings := plainClient(t).Database(database).Collection("settings")
	for _, layout := range []string{mongodb.FeedsRead, "", mongodb.FeedsRead} {
		if err := reopen(t, uri, layout); err != nil {
			t.Fatalf("%q: %v", layout, err)
		}
	}
	// As a Plaza with another layout would leave it.
	change := bson.D{{Key: "$set", Value: bson.D{{Key: "value", Value: "scrolls"}}}}
	if _, err := settings.UpdateOne(t.Context(), bson.D{{Key: "_id", Value: "feeds"}, {Key: "value", Value: "read"}}, change); err != nil {
		t.Fatal(err)
	}
	for _, layout := range []string{"", mongodb.FeedsRead} {
		if err := reopen(t, uri, layout); err == nil || !strings.Contains(err.Error(), `"scrolls"`) {
			t.Errorf("%q: %v, want a refusal that names the layout", layout, err)
		}
	}
}

func TestServersThatStartTogetherAgree(t *testing.T) {
	uri, database := mongotest.Database(t)
	uri = inDatabase(t, uri, database)
	errs := make([]error, 8)
	var servers sync.WaitGroup
	for i := range errs {
		servers.Go(func() { errs[i] = reopen(t, uri, "") })
	}
	servers.Wait()
	if text := fmt.Sprint(errs); strings.Contains(text, "layout") || strings.Contains(text, "E11000") {
		t.Error(text)
	}
	n, err := plainClient(t).Database(database).Collection("settings").CountDocuments(t.Context(), bson.D{})
	if n != 1 || err != nil {
		t.Errorf("%d settings, %v", n, err)
	}
}
