package mongodb_test

import (
	"testing"

	"plaza/storage"
	"plaza/storage/mongodb"
	"plaza/storage/storagetest"
)

// TestClientsCatchUp runs on two servers, and on every layout of feeds and of threads.
func TestClientsCatchUp(t *testing.T) {
	t.Parallel()
	for _, o := range []mongodb.Options{
		mongodb.Walking(mongodb.Options{Comments: mongodb.CommentsDocuments, Feeds: mongodb.TinyRead}),
		mongodb.Walking(mongodb.Options{Comments: mongodb.CommentsEmbedded, Feeds: mongodb.TinyCache}),
		{Comments: mongodb.TinyPages, Feeds: mongodb.TinyBucket},
		{Comments: mongodb.TinyAdaptive, Feeds: mongodb.TinyMonth},
		{Feeds: mongodb.FeedsHybrid, MergeAbove: 1, Graph: mongodb.GraphTwo},
	} {
		t.Run(o.Feeds+", "+o.Comments, func(t *testing.T) {
			t.Parallel()
			storagetest.RunCatchUp(t, func(t *testing.T) []storage.Store {
				t.Helper()
				return openTwo(t, o)
			})
		})
	}
}

// TestClientsCatchUpOnPeople runs on two servers, and on every layout of the graph.
func TestClientsCatchUpOnPeople(t *testing.T) {
	t.Parallel()
	for _, o := range []mongodb.Options{{Graph: mongodb.GraphReverse}, {Graph: mongodb.GraphTwo}} {
		t.Run(o.Graph, func(t *testing.T) {
			t.Parallel()
			storagetest.RunCatchUpEdges(t, func(t *testing.T) []storage.Store {
				t.Helper()
				return openTwo(t, o)
			})
		})
	}
}
