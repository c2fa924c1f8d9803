package mongodb_test

import (
	"testing"

	"plaza/social"
	"plaza/storage/mongodb"
	"plaza/storage/mongodb/mongotest"
	"plaza/storage/storagetest"
)

// layouts are those of comment threads: the whole contract holds in each.
var layouts = []string{
	mongodb.CommentsDocuments, mongodb.CommentsEmbedded, mongodb.CommentsPages, mongodb.CommentsAdaptive,
	mongodb.TinyPages, mongodb.TinyAdaptive,
}

func TestContract(t *testing.T) { forEachLayout(t, storagetest.Run) }

func TestModel(t *testing.T) { forEachLayout(t, storagetest.RunModel) }

func forEachLayout(t *testing.T, run func(*testing.T, storagetest.Open)) {
	t.Helper()
	for _, layout := range layouts {
		t.Run(layout, func(t *testing.T) {
			run(t, func(t *testing.T) social.Store {
				t.Helper()
				uri, database := mongotest.Database(t)
				return openAt(t, inDatabase(t, uri, database), mongodb.Options{Comments: layout})
			})
		})
	}
}
