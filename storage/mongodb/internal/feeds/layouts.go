package feeds

import (
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"plaza/storage/mongodb/internal/mdb"
	"plaza/storage/mongodb/internal/recent"
)

// The names of the layouts.
const (
	// Read keeps no feeds: they are merged when they are read, recent posts in memory.
	Read = "read"
	// Cache keeps, for each user who reads their news now and then, whose posts are in them, and the
	// ids of older ones. Recent posts are merged in memory, as in Read.
	Cache = "cache"
	// Hybrid keeps a capped list of post ids for each user who reads their news now and then.
	// Authors with very many followers are merged when a list is read.
	Hybrid = "hybrid"
	// Bucket keeps the newest posts in the news of all users as ids, in buckets.
	Bucket = "bucket"
	// Month keeps the newest posts in the news of all users, and on all walls, as copies, by the
	// month.
	Month = "month"
)

// Maker makes a layout.
type Maker func(*base) Layout

// Layouts returns what makes each layout, by name.
func Layouts() map[string]Maker {
	return map[string]Maker{
		Read:   func(e *base) Layout { return readLayout{unkept{e}} },
		Cache:  func(e *base) Layout { return &cacheLayout{unkept{e}, cacheLength, mostCachedAuthors} },
		Hybrid: func(e *base) Layout { return newHybridLayout(e) },
		Bucket: InBuckets(128, 20), // 128 ids take about 3.5 KB; the largest page fits into the open bucket
		Month:  InMonths(50, 24),   // 50 copies take about 100 KB, and at most maxCopy each
	}
}

// Recent makes a layout like Read, with a number of recent posts in memory, which are read in steps,
// and with short pauses.
func Recent(step, most int) Maker {
	return func(e *base) Layout {
		own := e.withRecent(step, most)
		own.pauses = newPauses(1)
		return readLayout{unkept{own}}
	}
}

// Cached makes a layout like Cache, with a number of ids for each user who follows up to a number of
// people. The recent posts in memory are as in [Recent].
func Cached(length, authors, step, most int) Maker {
	return func(e *base) Layout { return &cacheLayout{unkept{e.withRecent(step, most)}, length, authors} }
}

// withRecent returns the same with other limits for recent posts.
func (e *base) withRecent(step, most int) *base {
	own := *e
	own.recent = recent.New(e.posts, step, most)
	return &own
}

// InBuckets makes a layout like Bucket, with buckets of a size, of which some closed ones are kept.
func InBuckets(size, closed int) Maker {
	return func(e *base) Layout { return newBucketLayout(e, size, closed) }
}

// InMonths makes a layout like Month, with documents for a number of copies, of which some closed
// ones are kept.
func InMonths(size, closed int) Maker {
	return func(e *base) Layout { return newMonthLayout(e, size, closed) }
}

// indexes returns the layouts' own collections, which every database has, with their indexes.
func (e *base) indexes() map[*mongo.Collection][]mongo.IndexModel {
	return map[*mongo.Collection][]mongo.IndexModel{
		e.newsCache:     {mdb.ExpiringIndex("usedAt", listLife)},
		e.newsLists:     {mdb.ExpiringIndex("usedAt", listLife)},
		e.mergedAuthors: nil, // _id is the author
		e.newsBuckets:   partIndexes(),
		e.monthNews:     partIndexes(),
		e.monthWalls:    partIndexes(),
	}
}

// ShardKeys returns the shard keys of the layouts' own collections, by name.
func ShardKeys() map[string]bson.D {
	return map[string]bson.D{
		"newsCache":     mdb.Doc("_id", "hashed"), // the user
		"newsLists":     mdb.Doc("_id", "hashed"), // the user
		"mergedAuthors": mdb.Doc("_id", "hashed"), // the user
		"newsBuckets":   mdb.Doc("user", "hashed"),
		"monthNews":     mdb.Doc("user", "hashed"),
		"monthWalls":    mdb.Doc("user", "hashed"),
	}
}
