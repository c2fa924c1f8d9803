package threads

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
)

// updates changes one comment in each bucket that has it. match selects the element of the bucket,
// which is "comments.$" in the update.
func updates(whole bool, c *Document, match, update bson.D) []mongo.WriteModel {
	filters := []bson.D{mdb.Doc("post", c.Post, "_id", string(newRun(c.Post, runWhole)))}
	hint := any(mdb.Doc("_id", 1))
	if !whole {
		hint = byUpper
		filters = filters[:0]
		for _, kind := range []byte{runInTime, runInTree} {
			r := newRun(c.Post, kind)
			filters = append(filters, r.covering(r.key(c)))
		}
	}
	models := make([]mongo.WriteModel, len(filters))
	for i, filter := range filters {
		filter = append(filter, bson.E{Key: "comments", Value: mdb.Doc("$elemMatch", match)})
		models[i] = mongo.NewUpdateOneModel().SetFilter(filter).SetUpdate(update).SetHint(hint)
	}
	return models
}

// change writes, updates first. ErrNotFound: one of the updates matched nothing.
func (t inBuckets) change(ctx context.Context, models []mongo.WriteModel) error {
	var updates, others []mongo.WriteModel // one command each
	for _, m := range models {
		if _, ok := m.(*mongo.UpdateOneModel); ok {
			updates = append(updates, m)
		} else {
			others = append(others, m)
		}
	}
	result, err := t.buckets.BulkWrite(ctx, append(updates, others...))
	if err == nil && result.MatchedCount != int64(len(updates)) {
		return social.ErrNotFound
	}
	return err
}

// split replaces a bucket with others that have its comments: two halves, or the runs of a paged
// thread.
func (t inBuckets) split(ctx context.Context, head *bucketDoc, into ...run) error {
	var old bucketDoc
	own := mdb.Doc("post", head.Post, "_id", head.ID)
	if err := mdb.OrNotFound(t.buckets.FindOne(ctx, own).Decode(&old)); err != nil {
		return err
	}
	comments := commentsOf([]bucketDoc{old})
	models := []mongo.WriteModel{mongo.NewDeleteOneModel().SetFilter(own)}
	for _, r := range into {
		lower, upper, chunks := old.ID, old.Upper, halves
		if r != runOf(&old) {
			lower, upper, chunks = string(r), r.end(), t.page.chunks
		}
		for _, b := range r.buckets(lower, upper, comments, chunks) {
			models = append(models, mongo.NewInsertOneModel().SetDocument(b))
		}
	}
	_, err := t.buckets.BulkWrite(ctx, models)
	return err
}

// push stores a comment in its bucket, in a new one after that if it is full, or in the first one
// of the run.
func (r run) push(b *bucketDoc, c *Document, limit Limit) []mongo.WriteModel {
	key := r.key(c)
	switch {
	case b == nil:
		return []mongo.WriteModel{mongo.NewInsertOneModel().SetDocument(r.bucket(string(r), r.end(), []Document{*c}))}
	case r.kind() != runWhole && key > b.Last && !limit.admits(b, 1, weight(c)):
		next := r.bucket(r.at(key), b.Upper, []Document{*c})
		return []mongo.WriteModel{
			mongo.NewUpdateOneModel().SetFilter(mdb.Doc("post", c.Post, "_id", b.ID)).SetUpdate(mdb.Doc("$set", mdb.Doc("upper", next.ID))),
			mongo.NewInsertOneModel().SetDocument(next),
		}
	}
	own := *c
	own.Post = social.PostID{}
	push := mdb.Doc("$each", bson.A{own})
	if key < b.Last {
		push = append(push, bson.E{Key: "$sort", Value: r.order()})
	}
	return []mongo.WriteModel{mongo.NewUpdateOneModel().SetFilter(mdb.Doc("post", c.Post, "_id", b.ID)).SetUpdate(mdb.Doc(
		"$push", mdb.Doc("comments", push), "$inc", mdb.Doc("count", 1, "bytes", weight(c)), "$max", mdb.Doc("last", key)))}
}
