package mdb

import (
	"context"
	"errors"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/social"
)

// InBatch is the longest list of values in one command.
const InBatch = 1000

// FindAll reads all documents that match, with one command if they take less than the server's
// limit of 16 MB.
func FindAll[D any](ctx context.Context, c *mongo.Collection, filter bson.D, expect int, opts ...options.Lister[options.FindOptions]) ([]D, error) {
	// One more than expected: then the first batch also shows that there are no more.
	opts = append(opts, options.Find().SetBatchSize(int32(expect+1)))
	return readCurrentSnapshot(ctx, func() ([]D, error) {
		cursor, err := c.Find(ctx, filter, opts...)
		if err != nil {
			return nil, err
		}
		return ReadAll[D](ctx, cursor, expect)
	})
}

// FindIn reads the documents whose field has one of the values, in batches of InBatch.
func FindIn[D any, V any](ctx context.Context, c *mongo.Collection, field string, values []V, opts ...options.Lister[options.FindOptions]) ([]D, error) {
	var all []D
	for batch := range slices.Chunk(values, InBatch) {
		docs, err := FindAll[D](ctx, c, oneOf(field, batch), len(batch), opts...)
		if err != nil {
			return nil, err
		}
		if all == nil {
			all = docs
		} else {
			all = append(all, docs...)
		}
	}
	return all, nil
}

// oneOf matches documents whose field has one of the values. A single value is compared directly,
// because MongoDB then reads an _id without planning a query.
func oneOf[V any](field string, values []V) bson.D {
	if len(values) == 1 {
		return Doc(field, values[0])
	}
	return Doc(field, Doc("$in", Values(values)))
}

// AggregateAll runs a pipeline and reads all resulting documents, with one command like FindAll.
func AggregateAll[D any](ctx context.Context, c *mongo.Collection, pipeline bson.A, expect int, opts ...options.Lister[options.AggregateOptions]) ([]D, error) {
	opts = append(opts, options.Aggregate().SetBatchSize(int32(expect+1)))
	stages, err := writePipeline(pipeline)
	if err != nil {
		return nil, err
	}
	return readCurrentSnapshot(ctx, func() ([]D, error) {
		cursor, err := c.Aggregate(ctx, stages, opts...)
		if err != nil {
			return nil, err
		}
		return ReadAll[D](ctx, cursor, expect)
	})
}

// readCurrentSnapshot reads, and repeats the read if the server dropped the snapshot before the
// command ended, which a busy server may do. A transaction reads its own snapshot.
func readCurrentSnapshot[D any](ctx context.Context, read func() ([]D, error)) ([]D, error) {
	docs, err := read()
	mayRepeat := mongo.SessionFromContext(ctx) == nil || ctx.Value(repeatable{}) != nil
	if mayRepeat && HasCode(err, snapshotTooOld) {
		return read()
	}
	return docs, err
}

// ReadAll reads the remaining documents of a cursor, and closes it.
func ReadAll[D any](ctx context.Context, cursor *mongo.Cursor, expect int) ([]D, error) {
	defer cursor.Close(context.WithoutCancel(ctx))
	var docs []D
	for cursor.Next(ctx) {
		if docs == nil {
			docs = make([]D, 0, min(expect, cursor.RemainingBatchLength()+1))
		}
		docs = append(docs, *new(D))
		if err := readCurrent(cursor, &docs[len(docs)-1]); err != nil {
			return nil, err
		}
	}
	return docs, cursor.Err()
}

// readCurrent reads the current document, with the driver's decoder if it has none of its own.
func readCurrent(cursor *mongo.Cursor, to any) error {
	if d, ok := to.(Document); ok {
		return ReadDocument(cursor.Current, d)
	}
	return cursor.Decode(to)
}

// Union returns a pipeline that runs all of these on one collection, one after another.
func Union(c *mongo.Collection, pipelines []bson.A) bson.A {
	all := slices.Clone(pipelines[0])
	for _, p := range pipelines[1:] {
		all = append(all, Doc("$unionWith", Doc("coll", c.Name(), "pipeline", p)))
	}
	return all
}

// HasDocuments reports whether a collection has any documents. The collection may be missing.
func HasDocuments(ctx context.Context, c *mongo.Collection) (bool, error) {
	err := c.FindOne(ctx, Doc(), options.FindOne().SetProjection(Doc("_id", 1)).SetHint(Doc("_id", 1))).Err()
	if errors.Is(err, mongo.ErrNoDocuments) {
		return false, nil
	}
	return err == nil, err
}

// MustHaveRoom returns ErrLimitReached if a filter matches maximum documents. In a transaction that
// has written what others of its kind write, too, so that they conflict, the limit is exact.
func MustHaveRoom(ctx context.Context, c *mongo.Collection, filter bson.D, hint string, maximum int) error {
	n, err := c.CountDocuments(ctx, filter, options.Count().SetLimit(int64(maximum)).SetHint(hint))
	if err == nil && int(n) == maximum {
		err = social.ErrLimitReached
	}
	return err
}

// Map converts all documents.
func Map[D, T any](docs []D, read func(*D) T) []T {
	if docs == nil {
		return nil
	}
	all := make([]T, len(docs))
	for i := range docs {
		all[i] = read(&docs[i])
	}
	return all
}
