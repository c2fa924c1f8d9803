package mongodb

import (
	"plaza/storage/mongodb/internal/feeds"
	"plaza/storage/mongodb/internal/graph"
	"plaza/storage/mongodb/internal/threads"
)

// inUse holds the layouts that the calls of one era work with.
type inUse struct {
	threads threads.InUse
	feeds   feeds.InUse
	graph   graph.InUse
}
