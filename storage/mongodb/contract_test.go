package mongodb_test

import (
	"testing"

	"plaza/social"
	"plaza/storage/mongodb"
	"plaza/storage/storagetest"
)

// layouts are all that the contract holds for.
var layouts = map[string]mongodb.Options{
	"read":   {Feeds: mongodb.FeedsRead},
	"hybrid": {Feeds: mongodb.FeedsHybrid},
}

// merging makes everybody with two followers an author who is merged at read.
var merging = mongodb.Options{Feeds: mongodb.FeedsHybrid, MergeAbove: 1}

func TestContract(t *testing.T) {
	for name, o := range layouts {
		t.Run(name, func(t *testing.T) { storagetest.Run(t, fresh(o)) })
	}
}

func TestModel(t *testing.T) {
	for name, o := range layouts {
		t.Run(name, func(t *testing.T) { storagetest.RunModel(t, fresh(o)) })
	}
	t.Run("hybrid, merging", func(t *testing.T) { storagetest.RunModel(t, fresh(merging)) })
}

func fresh(o mongodb.Options) storagetest.Open {
	return func(t *testing.T) social.Store {
		t.Helper()
		return openFresh(t, o)
	}
}
