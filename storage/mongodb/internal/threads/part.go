package threads

import (
	"context"
	"slices"

	"go.mongodb.org/mongo-driver/v2/mongo"

	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
)

// Part is a part of the documents of a thread.
type Part struct {
	collection *mongo.Collection
	documents  []any
}

// partsOf splits documents into parts of a size.
func partsOf[D any](c *mongo.Collection, docs []D, size int) []Part {
	var parts []Part
	for some := range slices.Chunk(docs, max(1, size)) {
		part := Part{collection: c, documents: make([]any, len(some))}
		for i := range some {
			part.documents[i] = some[i]
		}
		parts = append(parts, part)
	}
	return parts
}

// Store inserts the documents.
func (p Part) Store(ctx context.Context) error {
	_, err := p.collection.InsertMany(ctx, p.documents)
	return err
}

// LongThread is the number of comments from which a thread is copied in several transactions: a
// transaction that does not fit into the database's cache fails.
const LongThread = 5000

// filling is what is stored of whole threads.
type filling struct {
	threads *mongo.Collection
	filled  []filled
	authors *mongo.Collection // nil if the layout has none
	entries []authorDoc
}

// filled is a document, and the first comment in it.
type filled struct {
	at  social.CommentID
	doc any
}

func (f *filling) add(more filling) {
	f.threads, f.filled = more.threads, append(f.filled, more.filled...)
	f.authors, f.entries = more.authors, append(f.entries, more.entries...)
}

func (f *filling) store(ctx context.Context) error {
	slices.SortFunc(f.filled, func(a, b filled) int { return a.at.Compare(b.at.ID) })
	if err := insertMany(ctx, f.threads, mdb.Map(f.filled, func(f *filled) any { return f.doc })); err != nil {
		return err
	}
	return insertMany(ctx, f.authors, f.entries)
}

// insertMany stores documents with large commands, so that waiting for the write concern takes
// little of the time.
func insertMany[D any](ctx context.Context, c *mongo.Collection, docs []D) error {
	const together = 10 * mdb.InBatch
	for some := range slices.Chunk(docs, together) {
		if _, err := c.InsertMany(ctx, some); err != nil {
			return err
		}
	}
	return nil
}
