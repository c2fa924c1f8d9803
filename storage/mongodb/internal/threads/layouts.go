package threads

import (
	"context"
	"math"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readconcern"

	"plaza/storage/mongodb/internal/mdb"
)

// The names of the layouts.
const (
	Documents = "documents" // a document for each comment
	Embedded  = "embedded"  // a document for each thread; a thread is full when the document is near MongoDB's size limit
	Pages     = "pages"     // a document for about 100 comments
	Adaptive  = "adaptive"  // embedded while the thread is small, then pages
)

// Maker makes a layout of a database.
type Maker func(*mongo.Database) Layout

// Layouts returns what makes each layout, by name.
func Layouts() map[string]Maker {
	return map[string]Maker{
		Documents: func(db *mongo.Database) Layout { return inDocuments{comments: db.Collection("comments")} },
		Embedded:  InBuckets(Embedded, Limit{math.MaxInt, maxEmbedded}, Limit{}),
		Pages:     InBuckets(Pages, Limit{}, PageLimit),
		Adaptive:  InBuckets(Adaptive, PageLimit, PageLimit),
	}
}

// InBuckets makes a layout with buckets, under a name. Threads up to the limit whole are in one
// bucket. Larger ones are in buckets up to the limit page; if that is zero, they are full.
func InBuckets(name string, whole, page Limit) Maker {
	return func(db *mongo.Database) Layout {
		return inBuckets{
			buckets: bucketsIn(db, name), authors: authorsIn(db, name), whole: whole, paged: page.Comments > 0, page: page,
		}
	}
}

const maxEmbedded = 8 << 20 // half of what a document may have

// sharedBuckets is the collection that all layouts with buckets once shared.
const sharedBuckets = "threads"

// bucketsIn returns a layout's collection of buckets. Reads of it outside of transactions are
// snapshots: a command must not read one bucket before it was cut in two, and the other one after.
func bucketsIn(db *mongo.Database, layout string) *mongo.Collection {
	return db.Collection(sharedBuckets+"."+layout, options.Collection().SetReadConcern(readconcern.Snapshot()))
}

// ShardKeys returns the shard keys of the collections of a layout, by name.
func ShardKeys(layout string) map[string]bson.D {
	if layout == Documents {
		return map[string]bson.D{"comments": mdb.Doc("post", "hashed", "slug", 1)}
	}
	return map[string]bson.D{
		sharedBuckets + "." + layout: mdb.Doc("post", "hashed", "_id", 1),
		allAuthors + "." + layout:    mdb.Doc("author", "hashed", "seq", 1),
	}
}

// TakeShared gives the buckets in the shared collection, if it still exists, to the layout that
// made them: the one that the database has. It lists their authors first, which that version did
// not do yet.
func TakeShared(ctx context.Context, db *mongo.Database, layout Layout) error {
	t, ok := layout.(inBuckets)
	if !ok {
		return nil // left by a migration; nothing reads it
	}
	if err := t.listAuthors(ctx, db.Collection(sharedBuckets)); err != nil {
		return mdb.Translate(ctx, "list authors", err)
	}
	err := db.Client().Database("admin").RunCommand(ctx, mdb.Doc(
		"renameCollection", db.Name()+"."+sharedBuckets, "to", db.Name()+"."+t.buckets.Name())).Err()
	if mdb.HasCode(err, mdb.NamespaceNotFound) {
		return nil // another server was faster
	}
	return mdb.Translate(ctx, "rename threads", err)
}

// HasShared reports whether the shared collection still exists.
func HasShared(ctx context.Context, db *mongo.Database) (bool, error) {
	names, err := db.ListCollectionNames(ctx, mdb.Doc("name", sharedBuckets))
	return len(names) > 0, mdb.Translate(ctx, "rename threads", err)
}
