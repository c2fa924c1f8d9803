package mongodb_test

import (
	"os"
	"slices"
	"testing"

	"plaza/storage"
	"plaza/storage/mongodb"
	"plaza/storage/storagetest"
)

// layouts are the layouts with which the contract is tested. To save time, some run only the nouns
// that they affect, unless the environment has PLAZA_ALL_LAYOUTS.
var layouts = []struct {
	name  string
	nouns []string // nil: all; empty: other layouts of the same kind have run them
	mongodb.Options
}{
	{"documents, read", nil, mongodb.Options{}}, // the default
	{"tiny adaptive, hybrid, two", ofAllThree, mongodb.Options{Comments: mongodb.TinyAdaptive, Feeds: mongodb.FeedsHybrid, Graph: mongodb.GraphTwo}},
	{"two", none, mongodb.Options{Graph: mongodb.GraphTwo}},
	{"embedded", ofComments, mongodb.Options{Comments: mongodb.CommentsEmbedded}},
	{"pages", none, mongodb.Options{Comments: mongodb.CommentsPages}},
	{"adaptive", none, mongodb.Options{Comments: mongodb.CommentsAdaptive}},
	{"small pages", ofComments, mongodb.Options{Comments: mongodb.SmallPages}},
}

var (
	ofComments = []string{"Comments", "ThreadConcurrency"}
	none       = []string{}

	// ofAllThree omits users, profiles and sessions, which have only one layout.
	ofAllThree = []string{
		"Store", "Circles", "Graph", "Posts", "Feeds", "Comments", "Importer", "Deletion", "EventLog", "Concurrency", "ThreadConcurrency",
	}
)

// tinyFeeds and largeFeeds are the other layouts of feeds. Short runs test only feeds, and only on
// the tiny layouts.
var (
	tinyFeeds  = []string{mongodb.TinyCache, mongodb.TinyBucket, mongodb.TinyMonth}
	largeFeeds = []string{mongodb.FeedsCache, mongodb.FeedsBucket, mongodb.FeedsMonth}
)

// merging makes every user with two followers an author who is merged at read.
var merging = mongodb.Options{Comments: mongodb.TinyAdaptive, Feeds: mongodb.FeedsHybrid, MergeAbove: 1, Graph: mongodb.GraphTwo}

func TestContract(t *testing.T) {
	t.Parallel()
	_, all := os.LookupEnv("PLAZA_ALL_LAYOUTS")
	for _, l := range layouts {
		t.Run(l.name, func(t *testing.T) {
			if l.nouns == nil || all {
				storagetest.Run(t, fresh(t, l.Options))
			} else {
				storagetest.RunSome(t, fresh(t, l.Options), l.nouns...)
			}
		})
	}
	for _, layout := range slices.Concat(tinyFeeds, largeFeeds) {
		t.Run(layout, func(t *testing.T) {
			o := mongodb.Options{Comments: mongodb.TinyAdaptive, Feeds: layout}
			if all {
				storagetest.Run(t, fresh(t, o))
			} else if slices.Contains(tinyFeeds, layout) {
				storagetest.RunSome(t, fresh(t, mongodb.Walking(o)), "Feeds")
			}
		})
	}
}

// TestContractOnTwoServers runs the cases about concurrency on two stores of one database, where
// locks within one process have no effect on the other.
func TestContractOnTwoServers(t *testing.T) {
	t.Parallel()
	storagetest.RunOnSeveral(t, func(t *testing.T) []storage.Store {
		t.Helper()
		return openTwo(t, mongodb.Options{})
	})
}

// TestFreshness changes people on one server and reads them on another one, which has them in its
// cache.
func TestFreshness(t *testing.T) {
	t.Parallel()
	storagetest.RunFreshness(t, func(t *testing.T) []storage.Store {
		t.Helper()
		return openTwo(t, mongodb.Options{})
	})
}

// TestModel plays fewer histories than SQLite's: a history takes MongoDB a second of CPU.
func TestModel(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]mongodb.Options{"documents, tiny read": {Feeds: mongodb.TinyRead}, "tiny adaptive, merging, two": merging} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			storagetest.RunModel(t, fresh(t, o), 5)
		})
	}
	_, all := os.LookupEnv("PLAZA_ALL_LAYOUTS")
	for _, layout := range tinyFeeds {
		t.Run(layout, func(t *testing.T) {
			t.Parallel()
			histories := 2
			if all {
				histories = 20
			}
			storagetest.RunModel(t, fresh(t, mongodb.Walking(mongodb.Options{Feeds: layout})), histories)
		})
	}
}

// fresh opens stores on empty databases.
func fresh(t *testing.T, o mongodb.Options) storagetest.Open {
	t.Helper()
	return func(t *testing.T) storage.Store {
		t.Helper()
		return openFresh(t, o)
	}
}
