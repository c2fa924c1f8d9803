package mongodb

import (
	"maps"
	"slices"

	"plaza/storage/mongodb/internal/cluster"
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
