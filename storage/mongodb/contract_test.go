package mongodb_test

import (
	"testing"

	"plaza/storage"
	"plaza/storage/mongodb"
	"plaza/storage/mongodb/mongotest"
	"plaza/storage/storagetest"
)

// layouts are those of comment threads: the whole contract holds in each.
var layouts = []string{
	mongodb.CommentsDocuments, mongodb.CommentsEmbedded, mongodb.CommentsPages, mongodb.CommentsAdaptive,
	mongodb.TinyPages, mongodb.TinyAdaptive,
}

// TestContractOnTwoServers runs what is about concurrency on two stores of one database, where locks in a process help nobody.
func TestContractOnTwoServers(t *testing.T) {
	storagetest.RunOnSeveral(t, func(t *testing.T) []storage.Store {
		t.Helper()
		uri, database := mongotest.Database(t)
		at := inDatabase(t, uri, database)
		return []storage.Store{openAt(t, at, mongodb.Options{}), openAt(t, at, mongodb.Options{})}
	})
}

func TestContract(t *testing.T) { forEachLayout(t, storagetest.Run) }

func TestModel(t *testing.T) { forEachLayout(t, storagetest.RunModel) }

func forEachLayout(t *testing.T, run func(*testing.T, storagetest.Open)) {
	t.Helper()
	for _, layout := range layouts {
		t.Run(layout, func(t *testing.T) {
			run(t, func(t *testing.T) storage.Store {
				t.Helper()
				uri, database := mongotest.Database(t)
				return openAt(t, inDatabase(t, uri, database), mongodb.Options{Comments: layout})
			})
		})
	}
}
