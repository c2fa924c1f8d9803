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

// tidy joins each bucket that has lost comments with a neighbour, if the two together fill at most
// half of a bucket. It joins an empty one with the one before it in any case. So there are never
// two sparse buckets next to each other, and a joined bucket is far from being cut again.
func (t inBuckets) tidy(ctx context.Context, post social.PostID, gone []Document) error {
	sparse, err := t.sparse(ctx, gone)
	if err != nil || len(sparse) == 0 {
		return err
	}
	around, err := t.neighbours(ctx, post, sparse)
	if err != nil {
		return err
	}
	for _, group := range t.joinable(around) {
		if err := t.join(ctx, post, group); err != nil {
			return err
		}
	}
	return nil
}

// headOf reads a bucket without its comments.
var headOf = mdb.Doc("upper", 1, "count", 1, "bytes", 1)

// sparse reads the heads of those buckets that have lost comments, and fill at most half of a
// bucket.
func (t inBuckets) sparse(ctx context.Context, gone []Document) ([]bucketDoc, error) {
	var branches bson.A
	for i := range gone {
		for _, kind := range []byte{runInTime, runInTree} {
			r := newRun(gone[i].Post, kind)
			branches = append(branches, r.covering(r.key(&gone[i])))
		}
	}
	heads, err := mdb.FindAll[bucketDoc](ctx, t.buckets, mdb.Doc("$or", branches), len(branches), options.Find().SetProjection(headOf))
	return slices.DeleteFunc(heads, func(b bucketDoc) bool { return !t.fitTogether(b, bucketDoc{}) }), err
}

// fitTogether reports whether the two fill at most half of a bucket.
func (t inBuckets) fitTogether(a, b bucketDoc) bool {
	return a.Count+b.Count <= t.page.Comments/2 && a.Bytes+b.Bytes <= t.page.Bytes/2
}

// neighbours reads the heads of buckets, and of those before and after them, in order.
func (t inBuckets) neighbours(ctx context.Context, post social.PostID, heads []bucketDoc) ([]bucketDoc, error) {
	var ids, uppers []string
	for i := range heads {
		ids, uppers = append(ids, heads[i].ID, heads[i].Upper), append(uppers, heads[i].ID)
	}
	around := mdb.Doc("post", post, "$or", bson.A{mdb.Doc("_id", mdb.Doc("$in", ids)), mdb.Doc("upper", mdb.Doc("$in", uppers))})
	found, err := mdb.FindAll[bucketDoc](ctx, t.buckets, around, len(ids)+len(uppers), options.Find().SetProjection(headOf))
	slices.SortFunc(found, func(a, b bucketDoc) int { return cmp.Compare(a.ID, b.ID) })
	return found, err
}

// joinable finds groups of adjacent buckets that should become one.
func (t inBuckets) joinable(heads []bucketDoc) [][]bucketDoc {
	var groups [][]bucketDoc
	for start := 0; start < len(heads); {
		sum, end := heads[start], start+1
		for end < len(heads) && heads[end].ID == sum.Upper && (heads[end].Count == 0 || t.fitTogether(sum, heads[end])) {
			sum.Count, sum.Bytes, sum.Upper = sum.Count+heads[end].Count, sum.Bytes+heads[end].Bytes, heads[end].Upper
			end++
		}
		if end-start > 1 {
			groups = append(groups, heads[start:end])
		}
		start = end
	}
	return groups
}

// join replaces a group with one bucket.
func (t inBuckets) join(ctx context.Context, post social.PostID, group []bucketDoc) error {
	var others []string
	for i := range group[1:] {
		others = append(others, group[1+i].ID)
	}
	upper := mdb.Doc("upper", group[len(group)-1].Upper)
	whole, err := mdb.FindAll[bucketDoc](ctx, t.buckets, mdb.Doc("post", post, "_id", mdb.Doc("$in", others), "count", mdb.Doc("$gt", 0)), len(others),
		options.Find().SetHint(mdb.Doc("_id", 1)))
	if err != nil {
		return err
	}
	update := mdb.Doc("$set", upper)
	if len(whole) > 0 {
		slices.SortFunc(whole, func(a, b bucketDoc) int { return cmp.Compare(a.ID, b.ID) })
		update = joined(whole, upper)
	}
	_, err = t.buckets.BulkWrite(ctx, []mongo.WriteModel{
		mongo.NewUpdateOneModel().SetFilter(mdb.Doc("post", post, "_id", group[0].ID)).SetUpdate(update),
		mongo.NewDeleteManyModel().SetFilter(mdb.Doc("post", post, "_id", mdb.Doc("$in", others))).SetHint(mdb.Doc("_id", 1)),
	})
	return err
}

// joined is the update that appends the comments of the buckets that follow.
func joined(buckets []bucketDoc, set bson.D) bson.D {
	var comments []Document
	bytes, last := 0, ""
	for _, b := range buckets {
		comments = append(comments, b.Comments...)
		bytes, last = bytes+b.Bytes, b.Last
	}
	return mdb.Doc("$set", set, "$push", mdb.Doc("comments", mdb.Doc("$each", comments)),
		"$inc", mdb.Doc("count", len(comments), "bytes", bytes), "$max", mdb.Doc("last", last))
}
