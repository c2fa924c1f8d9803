package mongodb

import (
	"context"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
)

// documentThreads keeps one document a comment. Every list of comments is a range of one index.
type documentThreads struct {
	comments *mongo.Collection
}

func (t documentThreads) indexes() map[*mongo.Collection][]mongo.IndexModel {
	return map[*mongo.Collection][]mongo.IndexModel{t.comments: {
		mdb.Index(byPost, mdb.Doc("post", 1, "seq", 1)),
		mdb.Index(byPostTree, mdb.Doc("post", 1, "treePath", 1)),
		mdb.UniqueIndex(byPostSlug, mdb.Doc("post", 1, "slug", 1)),
		mdb.IndexHaving("author", byAuthor, mdb.Doc("author", 1, "seq", -1)),
		mdb.IndexHaving("parent", byPostParent, mdb.Doc("post", 1, "parent", 1, "seq", 1)),
	}}
}

func (t documentThreads) postOf(ctx context.Context, comment social.CommentID) (social.PostID, error) {
	var d commentDoc
	only := options.FindOne().SetProjection(mdb.Doc("post", 1))
	err := mdb.OrNotFound(t.comments.FindOne(ctx, mdb.Doc("_id", comment), only).Decode(&d))
	return d.Post, err
}

func (t documentThreads) insert(ctx context.Context, comments []*social.Comment) error {
	docs := newCommentDocs(comments)
	if err := t.addReplies(ctx, docs[0].Post, repliesOf(docs)); err != nil {
		return err
	}
	for i := range docs {
		docs[i].Seq = docs[i].ID
	}
	_, err := t.comments.InsertMany(ctx, docs)
	return mdb.OrTaken(err)
}

// addReplies counts new replies at their parents. ErrNotFound: one of them is missing, or a tombstone.
func (t documentThreads) addReplies(ctx context.Context, post social.PostID, counts []replyCount) error {
	if len(counts) == 0 {
		return nil
	}
	models := make([]mongo.WriteModel, len(counts))
	for i, c := range counts {
		models[i] = mongo.NewUpdateOneModel().SetFilter(live(mdb.Doc("_id", c.parent, "post", post))).SetUpdate(mdb.Doc("$inc", mdb.Doc("replies", c.n)))
	}
	result, err := t.comments.BulkWrite(ctx, models)
	if err == nil && result.MatchedCount != int64(len(models)) {
		return social.ErrNotFound
	}
	return err
}

func (t documentThreads) edit(ctx context.Context, post social.PostID, comment social.CommentID, text string, at time.Time) error {
	edit := mdb.Doc("$set", mdb.Doc("text", text, "editedAt", at))
	return mdb.UpdateOne(ctx, t.comments, live(mdb.Doc("_id", comment, "post", post)), edit)
}

// remove makes a tombstone of the comment, or removes it with the tombstones above it that it was the last reply of.
func (t documentThreads) remove(ctx context.Context, post social.PostID, comment social.CommentID) error {
	branch, err := t.branch(ctx, comment, post)
	if err != nil {
		return err
	}
	own := branch[0]
	if own.Replies > 0 {
		return mdb.UpdateOne(ctx, t.comments, mdb.Doc("_id", own.ID, "post", post), mdb.Doc(
			"$set", mdb.Doc("deleted", true), "$unset", mdb.Doc("author", 1, "text", 1, "editedAt", 1)))
	}
	gone := 1
	for gone < len(branch) && branch[gone].Deleted && branch[gone].Replies == 1 {
		gone++
	}
	ids := mdb.Map(branch[:gone], func(d *commentDoc) social.CommentID { return d.ID })
	if _, err := t.comments.DeleteMany(ctx, mdb.Doc("_id", mdb.Doc("$in", ids), "post", post)); err != nil || gone == len(branch) {
		return err
	}
	return mdb.UpdateOne(ctx, t.comments, mdb.Doc("_id", branch[gone].ID, "post", post), mdb.Doc("$inc", mdb.Doc("replies", -1)))
}

// branch reads a live comment and its ancestors, upwards.
func (t documentThreads) branch(ctx context.Context, comment social.CommentID, post social.PostID) ([]commentDoc, error) {
	var own commentDoc
	if err := mdb.OrNotFound(t.comments.FindOne(ctx, live(mdb.Doc("_id", comment, "post", post))).Decode(&own)); err != nil {
		return nil, err
	}
	ancestors := own.comment().AncestorIDs()
	if len(ancestors) == 0 {
		return []commentDoc{own}, nil
	}
	docs, err := mdb.FindAll[commentDoc](ctx, t.comments, mdb.Doc("_id", mdb.Doc("$in", ancestors), "post", post), len(ancestors),
		options.Find().SetHint(mdb.Doc("_id", 1)))
	slices.SortFunc(docs, func(a, b commentDoc) int { return len(b.TreePath) - len(a.TreePath) })
	return append([]commentDoc{own}, docs...), err
}

func (t documentThreads) removeThread(ctx context.Context, post social.PostID) error {
	_, err := t.comments.DeleteMany(ctx, mdb.Doc("post", post), options.DeleteMany().SetHint(byPost))
	return err
}

func (t documentThreads) removePart(ctx context.Context, post social.PostID, most int) (bool, error) {
	docs, err := mdb.FindAll[commentDoc](ctx, t.comments, mdb.Doc("post", post), most,
		options.Find().SetLimit(int64(most)).SetHint(byPost).SetProjection(mdb.Doc("_id", 1)))
	if err != nil || len(docs) == 0 {
		return false, err
	}
	ids := mdb.Map(docs, func(d *commentDoc) social.CommentID { return d.ID })
	_, err = t.comments.DeleteMany(ctx, mdb.Doc("_id", mdb.Doc("$in", mdb.Values(ids)), "post", post))
	return true, err
}

func (t documentThreads) thread(ctx context.Context, post social.PostID) ([]commentDoc, error) {
	inTime := options.Find().SetSort(mdb.Doc("seq", 1)).SetHint(byPost)
	return mdb.FindAll[commentDoc](ctx, t.comments, mdb.Doc("post", post), mdb.InBatch, inTime)
}

func (t documentThreads) parts(post social.PostID, comments []commentDoc) ([]threadPart, error) {
	docs := slices.Clone(comments)
	for i := range docs {
		docs[i].Seq, docs[i].Post = docs[i].ID, post
	}
	return partsOf(t.comments, docs, longThread), nil
}

func (t documentThreads) byID(ctx context.Context, ids []social.CommentID) ([]commentDoc, error) {
	return mdb.FindIn[commentDoc](ctx, t.comments, "_id", ids)
}

func (t documentThreads) bySlug(ctx context.Context, links []social.Permalink) ([]commentDoc, error) {
	var all []commentDoc
	for batch := range slices.Chunk(links, mdb.ListsInBatch) {
		docs, err := mdb.FindAll[commentDoc](ctx, t.comments, slugFilter(batch), len(batch))
		if err != nil {
			return nil, err
		}
		all = append(all, docs...)
	}
	return all, nil
}

// slugFilter matches (post, slug) pairs, each by one seek.
func slugFilter(links []social.Permalink) bson.D {
	one := func(l social.Permalink) bson.D { return mdb.Doc("post", l.Post, "slug", l.Slug) }
	if len(links) == 1 {
		return one(links[0])
	}
	pairs := make(bson.A, len(links))
	for i, l := range links {
		pairs[i] = one(l)
	}
	return mdb.Doc("$or", pairs)
}

func (t documentThreads) pages(ctx context.Context, lists []social.List[social.Thread]) (map[social.List[social.Thread]][]*social.Comment, error) {
	query := func(list social.List[social.Thread]) mdb.ListQuery { return threadQuery(list.Of) }
	return mdb.Pages(ctx, t.comments, lists, query, (*commentDoc).comment)
}

func threadQuery(t social.Thread) mdb.ListQuery {
	switch {
	case t.Order == social.OrderThreaded:
		return treeQuery(t)
	case !t.Parent.IsZero():
		return mdb.ListQuery{
			Filter: mdb.Doc("post", t.Post, "parent", t.Parent), Key: "seq", Value: mdb.IDKey,
			Desc: t.Order == social.OrderNewest, Hint: byPostParent,
		}
	}
	return mdb.ListQuery{
		Filter: mdb.Doc("post", t.Post), Key: "seq", Value: mdb.IDKey, Desc: t.Order == social.OrderNewest, Hint: byPost,
	}
}

func treeQuery(t social.Thread) mdb.ListQuery {
	q := mdb.ListQuery{Filter: mdb.Doc("post", t.Post), Key: "treePath", Value: textKey, Hint: byPostTree}
	if t.Under != "" {
		// Ids' texts have no character behind "z", so "~" is behind everything under the comment.
		q.Bounds = mdb.Doc("$gte", textKey(t.Under))
		q.Page.Before = t.Under + "~"
	}
	return q
}

// textKey is the stored form of a list key that is a text.
func textKey(k social.Key) any { return string(k) }

func (t documentThreads) newest(ctx context.Context, posts []social.PostID, without []social.UserID, n int) ([][]commentDoc, error) {
	queries := make([]mdb.ListQuery, len(posts))
	for i, post := range posts {
		queries[i] = newest(post, without, n)
	}
	return mdb.ReadLists[commentDoc](ctx, t.comments, queries)
}

// newest lists a post's newest live comments, newest first.
func newest(post social.PostID, without []social.UserID, n int) mdb.ListQuery {
	filter := live(mdb.Doc("post", post))
	if len(without) > 0 {
		filter = append(filter, bson.E{Key: "author", Value: mdb.Doc("$nin", without)})
	}
	return mdb.ListQuery{Filter: filter, Key: "seq", Value: mdb.IDKey, Desc: true, Hint: byPost, Page: social.Page{Limit: n}}
}
