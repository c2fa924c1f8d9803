package mongodb

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

// tidy joins the buckets that comments have gone from with a neighbour, where the two together take at most half of a bucket; one that
// is empty is joined with whatever stands before it. So there are never two sparse buckets next to each other, and a bucket that was
// joined is far from being cut again.
func (t bucketThreads) tidy(ctx context.Context, post social.PostID, gone []commentDoc) error {
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

// headOf reads of a bucket what it says of itself.
var headOf = mdb.Doc("upper", 1, "count", 1, "bytes", 1)

// sparse reads the heads of those buckets that comments have gone from, and that half of a bucket would hold.
func (t bucketThreads) sparse(ctx context.Context, gone []commentDoc) ([]bucketDoc, error) {
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

// fitTogether says whether half of a bucket holds both.
func (t bucketThreads) fitTogether(a, b bucketDoc) bool {
	return a.Count+b.Count <= t.page.comments/2 && a.Bytes+b.Bytes <= t.page.bytes/2
}

// neighbours reads the heads of buckets with those before and behind them, in order.
func (t bucketThreads) neighbours(ctx context.Context, post social.PostID, heads []bucketDoc) ([]bucketDoc, error) {
	var ids, uppers []string
	for i := range heads {
		ids, uppers = append(ids, heads[i].ID, heads[i].Upper), append(uppers, heads[i].ID)
	}
	around := mdb.Doc("post", post, "$or", bson.A{mdb.Doc("_id", mdb.Doc("$in", ids)), mdb.Doc("upper", mdb.Doc("$in", uppers))})
	found, err := mdb.FindAll[bucketDoc](ctx, t.buckets, around, len(ids)+len(uppers), options.Find().SetProjection(headOf))
	slices.SortFunc(found, func(a, b bucketDoc) int { return cmp.Compare(a.ID, b.ID) })
	return found, err
}

// joinable finds groups of buckets that stand next to each other and are to become one.
func (t bucketThreads) joinable(heads []bucketDoc) [][]bucketDoc {
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

// join makes one bucket of a group.
func (t bucketThreads) join(ctx context.Context, post social.PostID, group []bucketDoc) error {
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

// joined appends the comments of buckets that stand behind.
func joined(buckets []bucketDoc, set bson.D) bson.D {
	var comments []commentDoc
	bytes, last := 0, ""
	for _, b := range buckets {
		comments = append(comments, b.Comments...)
		bytes, last = bytes+b.Bytes, b.Last
	}
	return mdb.Doc("$set", set, "$push", mdb.Doc("comments", mdb.Doc("$each", comments)),
		"$inc", mdb.Doc("count", len(comments), "bytes", bytes), "$max", mdb.Doc("last", last))
}
