package threads

import (
	"cmp"
	"context"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
)

// insertTogether stores several comments in a thread's one bucket with as few updates as one
// comment takes, because each update writes the whole bucket. It returns false if there is no such
// bucket, or no room for all: then each comment is stored by itself.
func (t inBuckets) insertTogether(ctx context.Context, comments []Document) (bool, error) {
	if len(comments) < 2 || t.whole.Comments == 0 {
		return false, nil
	}
	comments = slices.Clone(comments)
	slices.SortFunc(comments, func(a, b Document) int { return cmp.Compare(a.ID.ID.String(), b.ID.ID.String()) })
	slugs, bytes := make(bson.A, len(comments)), 0
	for i := range comments {
		slugs[i] = comments[i].Slug
		bytes += weight(&comments[i])
	}
	whole := newRun(comments[0].Post, runWhole)
	own := mdb.Doc("post", whole.post(), "_id", string(whole))
	taken := mdb.Doc("$ne", bson.A{mdb.Doc("$size", mdb.Doc("$setUnion", bson.A{literal(slugs), "$comments.slug"})), mdb.Doc("$add", bson.A{"$count", len(slugs)})})
	heads, err := mdb.FindAll[bucketDoc](ctx, t.buckets, own, 1, options.Find().SetProjection(mdb.Doc("count", 1, "bytes", 1, "last", 1, "taken", taken)))
	if err != nil || len(heads) == 0 || !t.whole.admits(&heads[0], len(comments), bytes) {
		return false, err
	}
	if heads[0].taken {
		return false, social.ErrTaken
	}
	return true, t.change(ctx, whole.pushAll(own, comments, heads[0].Last, bytes))
}

// pushAll stores comments, in the order of their keys, in the bucket that own matches, and counts
// them at their parents, which must be live comments in the bucket.
func (r run) pushAll(own bson.D, comments []Document, last string, bytes int) []mongo.WriteModel {
	var models []mongo.WriteModel
	if counts := repliesOf(comments); len(counts) > 0 {
		all := make(bson.A, len(counts))
		for i, c := range counts {
			all[i] = mdb.Doc("$elemMatch", shown(mdb.Doc("_id", c.parent)))
		}
		models = append(models, addReplies(append(slices.Clone(own), bson.E{Key: "comments", Value: mdb.Doc("$all", all)}), "comments", counts))
	}
	elements := make(bson.A, len(comments))
	for i, c := range comments {
		c.Post = social.PostID{} // the bucket has it
		elements[i] = c
	}
	push := mdb.Doc("$each", elements)
	if r.key(&comments[0]) < last {
		push = append(push, bson.E{Key: "$sort", Value: r.order()})
	}
	return append(models, mongo.NewUpdateOneModel().SetFilter(own).SetUpdate(mdb.Doc(
		"$push", mdb.Doc("comments", push), "$inc", mdb.Doc("count", len(comments), "bytes", bytes),
		"$max", mdb.Doc("last", r.key(&comments[len(comments)-1])))))
}
