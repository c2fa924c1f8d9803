package threads

import (
	"context"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
)

func (t inBuckets) RemoveThread(ctx context.Context, post social.PostID) error {
	if err := t.removeAuthors(ctx, post); err != nil {
		return err
	}
	_, err := t.buckets.DeleteMany(ctx, bucketsOf(post), options.DeleteMany().SetHint(mdb.Doc("_id", 1)))
	return err
}

// bucketsOf matches all buckets of a post: their _ids begin with the text of its id.
func bucketsOf(post social.PostID) bson.D {
	return mdb.Doc("post", post, "_id", mdb.Doc("$gt", post.ID.String(), "$lt", post.ID.String()+behind))
}

// RemovePart deletes entries of authors first, and then buckets, each with up to a hundred
// comments.
func (t inBuckets) RemovePart(ctx context.Context, post social.PostID, most int) (bool, error) {
	authors, err := mdb.FindAll[authorDoc](ctx, t.authors, mdb.Doc("post", post), most, options.Find().SetLimit(int64(most)).SetHint(byPost))
	if err != nil {
		return false, err
	}
	if len(authors) > 0 {
		ids := mdb.Map(authors, func(d *authorDoc) social.CommentID { return d.ID })
		_, err := t.authors.DeleteMany(ctx, mdb.Doc("post", post, "_id", mdb.Doc("$in", mdb.Values(ids))), options.DeleteMany().SetHint(mdb.Doc("_id", 1)))
		return true, err
	}
	some := max(1, most/PageLimit.Comments)
	heads, err := mdb.FindAll[bucketHead](ctx, t.buckets, bucketsOf(post), some,
		options.Find().SetLimit(int64(some)).SetHint(mdb.Doc("_id", 1)).SetProjection(mdb.Doc("_id", 1)))
	if err != nil || len(heads) == 0 {
		return false, err
	}
	ids := mdb.Map(heads, func(d *bucketHead) string { return d.ID })
	_, err = t.buckets.DeleteMany(ctx, mdb.Doc("post", post, "_id", mdb.Doc("$in", ids)))
	return true, err
}

// bucketHead is the _id of a bucket.
type bucketHead struct {
	ID string `bson:"_id"`
}

func (t inBuckets) Thread(ctx context.Context, post social.PostID) ([]Document, error) {
	inTime := newRun(post, runInTime)
	filters := []bson.D{mdb.Doc("_id", mdb.Doc("$gte", string(inTime), "$lt", inTime.end()))}
	if t.whole.Comments > 0 {
		filters = append(filters, mdb.Doc("_id", string(newRun(post, runWhole))))
	}
	var comments []Document
	for _, filter := range filters { // one of them finds nothing
		buckets, err := mdb.FindAll[bucketDoc](ctx, t.buckets, filter, mdb.InBatch, options.Find().SetSort(mdb.Doc("_id", 1)).SetHint(mdb.Doc("_id", 1)))
		if err != nil {
			return nil, err
		}
		comments = append(comments, commentsOf(buckets)...)
	}
	return comments, nil
}

func (t inBuckets) Parts(post social.PostID, comments []Document) ([]Part, error) {
	buckets, err := t.bucketsOf(post, comments, t.page)
	parts := partsOf(t.buckets, buckets, LongThread/max(1, t.page.Comments))
	return append(parts, partsOf(t.authors, authorsOf(comments), LongThread)...), err
}

// bucketsOf returns the buckets of a thread, with a separate limit for those in the order of the
// tree. ErrThreadFull: it needs more than one, and the layout has no pages.
func (t inBuckets) bucketsOf(post social.PostID, comments []Document, inTreeOrder Limit) ([]bucketDoc, error) {
	if len(comments) == 0 {
		return nil, nil
	}
	comments = slices.Clone(comments)
	bytes := 0
	for i := range comments {
		comments[i].Seq, comments[i].Post = social.CommentID{}, post
		bytes += weight(&comments[i])
	}
	whole, inTime, inTree := newRun(post, runWhole), newRun(post, runInTime), newRun(post, runInTree)
	switch {
	case len(comments) <= t.whole.Comments && bytes <= t.whole.Bytes:
		return whole.buckets(string(whole), whole.end(), comments, t.whole.chunks), nil
	case !t.paged:
		return nil, social.ErrThreadFull
	}
	all := inTime.buckets(string(inTime), inTime.end(), comments, t.page.chunks)
	return append(all, inTree.buckets(string(inTree), inTree.end(), comments, inTreeOrder.chunks)...), nil
}

func (t inBuckets) fill(post social.PostID, docs []Document) (filling, error) {
	const grown = 70 // percent of a bucket in the tree, which grows in its middle
	partly := Limit{max(1, t.page.Comments*grown/100), t.page.Bytes}
	buckets, err := t.bucketsOf(post, docs, partly)
	return filling{
		threads: t.buckets, filled: mdb.Map(buckets, func(b *bucketDoc) filled { return filled{b.Comments[0].ID, *b} }),
		authors: t.authors, entries: authorsOf(docs),
	}, err
}
