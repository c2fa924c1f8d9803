package mongodb

import (
	"maps"
	"slices"

	"plaza/storage/mongodb/internal/cluster"
	"plaza/storage/mongodb/internal/graph"
)

func feedsSetting() cluster.Layouts {
	return newSetting("feeds", "posts", FeedsRead, FeedsRead, feedLayouts)
}

func commentsSetting() cluster.Layouts {
	return newSetting("comments", "posts", CommentsDocuments, CommentsDocuments, commentLayouts)
}

func graphSetting() cluster.Layouts {
	return newSetting("graph", "edges", GraphReverse, GraphReverse, graphLayouts)
}

func newSetting[L any](name, data, usual, oldest string, layouts map[string]L) cluster.Layouts {
	return cluster.Layouts{Name: name, Data: data, Usual: usual, Oldest: oldest, Known: slices.Sorted(maps.Keys(layouts))}
}

// The layouts of the follower graph, for Options.Graph; see [Layouts].
const (
	GraphReverse = graph.Reverse // keeps each edge once, by its owner; an index finds the followers of a user
	GraphTwo     = graph.Two     // keeps a second copy of follows by the followed user, so that one shard has all followers of a user
)

// graphLayouts make the layouts of the follower graph.
var graphLayouts = graph.Layouts()
