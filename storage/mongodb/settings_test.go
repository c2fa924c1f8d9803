package mongodb_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"plaza/storage/mongodb"
	"plaza/storage/mongodb/mongotest"
)

// reopen opens the database with layouts, closes the store, and returns the error of opening it.
func reopen(t *testing.T, uri string, o mongodb.Options) error {
	t.Helper()
	store, err := mongodb.Open(t.Context(), uri, patient(o))
	if err == nil {
		err = store.Close()
	}
	return err
}

func feeds(layout string) mongodb.Options { return mongodb.Options{Feeds: layout} }

func graph(layout string) mongodb.Options { return mongodb.Options{Graph: layout} }

func comments(layout string) mongodb.Options { return mongodb.Options{Comments: layout} }

// refusedFor checks that an error contains the words.
func refusedFor(t *testing.T, err error, words ...string) {
	t.Helper()
	for _, word := range words {
		if err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("the error does not say %s: %v", word, err)
		}
	}
}

func TestOpenRefusesUnknownLayouts(t *testing.T) {
	t.Parallel()
	// The error must come before any connection: there is no database at this address.
	const nowhere = "mongodb://127.0.0.1:1/plaza"
	refusedFor(t, reopen(t, nowhere, feeds("monthly")), `no layout "monthly" of feeds`, mongodb.FeedsRead)
	refusedFor(t, reopen(t, nowhere, graph("three")), `no layout "three" of graph`, mongodb.GraphTwo)
	refusedFor(t, reopen(t, nowhere, comments("hybrid")), `no layout "hybrid" of comments`, mongodb.CommentsDocuments)
}

func TestTheFirstServerRecordsTheLayouts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, data, usual, first, other string
		o                               func(layout string) mongodb.Options
	}{
		{"feeds", "posts", mongodb.FeedsRead, mongodb.FeedsHybrid, mongodb.FeedsRead, feeds},
		{"comments", "posts", mongodb.CommentsDocuments, mongodb.CommentsPages, mongodb.CommentsAdaptive, comments},
		{"graph", "edges", mongodb.GraphReverse, mongodb.GraphTwo, mongodb.GraphReverse, graph},
	} {
		t.Run(c.name, func(t *testing.T) {
			uri := mongotest.Reused(t)
			settings := mongotest.Connect(t, uri).Collection("settings")
			record := bson.D{{Key: "_id", Value: c.name}}
			for _, layout := range []string{c.first, "", c.first} {
				if err := reopen(t, uri, c.o(layout)); err != nil {
					t.Fatalf("%q: %v", layout, err)
				}
			}
			refused, ok := errors.AsType[*mongodb.LayoutError](reopen(t, uri, c.o(c.other)))
			if want := (mongodb.LayoutError{Subject: mongodb.Subject(c.name), Has: c.first, Wanted: c.other}); !ok || *refused != want {
				t.Errorf("%v, want %v", refused, want)
			}
			// This is the state that a Plaza with another layout leaves.
			change := bson.D{{Key: "$set", Value: bson.D{{Key: "value", Value: "scrolls"}}}}
			if _, err := settings.UpdateOne(t.Context(), record, change); err != nil {
				t.Fatal(err)
			}
			for _, layout := range []string{"", c.first} {
				refusedFor(t, reopen(t, uri, c.o(layout)), `"scrolls"`)
			}
			// This is the state that a Plaza without the record leaves.
			if _, err := settings.DeleteOne(t.Context(), record); err != nil {
				t.Fatal(err)
			}
			data := settings.Database().Collection(c.data)
			if _, err := data.InsertOne(t.Context(), bson.D{{Key: "_id", Value: 1}}); err != nil {
				t.Fatal(err)
			}
			refusedFor(t, reopen(t, uri, c.o(c.first)), `"`+c.usual+`"`)
			if err := reopen(t, uri, c.o("")); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestServersThatStartTogetherAgree(t *testing.T) {
	t.Parallel()
	uri := mongotest.Reused(t)
	errs := make([]error, 8)
	var servers sync.WaitGroup
	for i := range errs {
		servers.Go(func() { errs[i] = reopen(t, uri, mongodb.Options{}) })
	}
	servers.Wait()
	if text := fmt.Sprint(errs); strings.Contains(text, "layout") || strings.Contains(text, "E11000") {
		t.Error(text)
	}
	n, err := mongotest.Connect(t, uri).Collection("settings").CountDocuments(t.Context(), bson.D{})
	if n != 4 || err != nil { // three layouts, and the versions of documents
		t.Errorf("%d settings, %v", n, err)
	}
}
