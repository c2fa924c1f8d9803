package mongodb_test

import (
	"os"
	"testing"

	"plaza/storage"
	"plaza/storage/mongodb"
	"plaza/storage/storagetest"
)

// layouts are all that the contract holds for. To save time, some run only what they change, unless
// the environment has PLAZA_ALL_LAYOUTS.
var layouts = []struct {
	name  string
	nouns []string // nil: all; none: what others of the same kind have run
	mongodb.Options
}{
	{"documents, read", nil, mongodb.Options{}}, // the default
	{"tiny adaptive, hybrid", ofFeedsAndComments, mongodb.Options{Comments: mongodb.TinyAdaptive, Feeds: mongodb.FeedsHybrid}},
	{"two, hybrid", ofGraph, mongodb.Options{Graph: mongodb.GraphTwo, Feeds: mongodb.FeedsHybrid}},
	{"two", none, mongodb.Options{Graph: mongodb.GraphTwo}},
	{"embedded", ofComments, mongodb.Options{Comments: mongodb.CommentsEmbedded}},
	{"pages", none, mongodb.Options{Comments: mongodb.CommentsPages}},
	{"adaptive", none, mongodb.Options{Comments: mongodb.CommentsAdaptive}},
	{"small pages", ofComments, mongodb.Options{Comments: mongodb.SmallPages}},
}

var (
	ofComments = []string{"Comments", "ThreadConcurrency"}
	none       = []string{}
	ofGraph    = []string{"Circles", "Graph", "Feeds", "Importer"}

	// ofFeedsAndComments leaves out users, profiles and sessions, which have only one layout, and
	// what ofGraph runs with the same feeds.
	ofFeedsAndComments = []string{"Store", "Posts", "Feeds", "Comments", "Deletion", "EventLog", "Concurrency", "ThreadConcurrency"}
)

// feedLayouts are the others, of which short runs have what is about feeds, and on the tiny ones,
// alone.
var feedLayouts = []string{mongodb.TinyBucket, mongodb.TinyMonth, mongodb.FeedsBucket, mongodb.FeedsMonth}

// merging makes everybody with two followers an author who is merged at read.
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
	for i, layout := range feedLayouts {
		t.Run(layout, func(t *testing.T) {
			o := mongodb.Options{Comments: mongodb.TinyAdaptive, Feeds: layout}
			if all {
				storagetest.Run(t, fresh(t, o))
			} else if i < 2 {
				storagetest.RunSome(t, fresh(t, o), "Feeds")
			}
		})
	}
}

// TestContractOnTwoServers runs what is about concurrency on two stores of one database, where
// locks in a process help nobody.
func TestContractOnTwoServers(t *testing.T) {
	t.Parallel()
	storagetest.RunOnSeveral(t, func(t *testing.T) []storage.Store {
		t.Helper()
		return openTwo(t, mongodb.Options{})
	})
}

// TestFreshness changes people on one server and reads them on another, which remembers them.
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
	for name, o := range map[string]mongodb.Options{"documents, read": {}, "tiny adaptive, merging, two": merging} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			storagetest.RunModel(t, fresh(t, o), 20)
		})
	}
	_, all := os.LookupEnv("PLAZA_ALL_LAYOUTS")
	for _, layout := range feedLayouts[:2] {
		t.Run(layout, func(t *testing.T) {
			t.Parallel()
			histories := 5
			if all {
				histories = 20
			}
			storagetest.RunModel(t, fresh(t, mongodb.Options{Feeds: layout}), histories)
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
