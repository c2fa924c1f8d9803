package threads

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

// inDocuments stores a document for each comment. Every list of comments is a range of one index.
type inDocuments struct {
	comments *mongo.Collection
}

func (t inDocuments) Indexes() map[*mongo.Collection][]mongo.IndexModel {
	return map[*mongo.Collection][]mongo.IndexModel{t.comments: {
		mdb.Index(byPost, mdb.Doc("post", 1, "seq", 1)),
		mdb.Index(byPostTree, mdb.Doc("post", 1, "treePath", 1)),
		mdb.UniqueIndex(byPostSlug, mdb.Doc("post", 1, "slug", 1)),
		mdb.IndexHaving("author", byAuthor, mdb.Doc("author", 1, "seq", -1)),
		mdb.IndexHaving("parent", byPostParent, mdb.Doc("post", 1, "parent", 1, "seq", 1)),
	}}
}

func (t inDocuments) PostOf(ctx context.Context, comment social.CommentID) (social.PostID, error) {
	var d Document
	only := options.FindOne().SetProjection(mdb.Doc("post", 1))
	err := mdb.OrNotFound(t.comments.FindOne(ctx, mdb.Doc("_id", comment), only).Decode(&d))
	return d.Post, err
}

func (t inDocuments) Insert(ctx context.Context, comments []*social.Comment) error {
	docs := newDocuments(comments)
	if err := t.addReplies(ctx, repliesOf(docs)); err != nil {
		return err
	}
	for i := range docs {
		docs[i].Seq = docs[i].ID
	}
	_, err := t.comments.InsertMany(ctx, docs)
	return mdb.OrTaken(err)
}

// addReplies counts new replies at their parents. ErrNotFound: a parent is missing, a tombstone or
// hidden.
func (t inDocuments) addReplies(ctx context.Context, counts []replyCount) error {
	if len(counts) == 0 {
		return nil
	}
	models := make([]mongo.WriteModel, len(counts))
	for i, c := range counts {
		models[i] = mongo.NewUpdateOneModel().SetFilter(shown(mdb.Doc("_id", c.parent, "post", c.post))).SetUpdate(mdb.Doc("$inc", mdb.Doc("replies", c.n)))
	}
	result, err := t.comments.BulkWrite(ctx, models)
	if err == nil && result.MatchedCount != int64(len(models)) {
		return social.ErrNotFound
	}
	return err
}

func (t inDocuments) Edit(ctx context.Context, post social.PostID, comment social.CommentID, text string, at time.Time) error {
	edit := mdb.Doc("$set", mdb.Doc("text", text, "editedAt", at))
	return mdb.UpdateOne(ctx, t.comments, shown(mdb.Doc("_id", comment, "post", post)), edit)
}

func (t inDocuments) Hide(ctx context.Context, post social.PostID, comment social.CommentID, hide bool) error {
	return mdb.UpdateOne(ctx, t.comments, live(mdb.Doc("_id", comment, "post", post)), hiding("hidden", hide))
}

func (t inDocuments) Remove(ctx context.Context, post social.PostID, comment social.CommentID) (social.Removal, error) {
	branch, err := t.branch(ctx, comment, post)
	if err != nil {
		return social.Removal{}, err
	}
	own := branch[0]
	if own.Replies > 0 {
		return social.Removal{}, mdb.UpdateOne(ctx, t.comments, mdb.Doc("_id", own.ID, "post", post), mdb.Doc(
			"$set", mdb.Doc("deleted", true), "$unset", mdb.Doc("author", 1, "text", 1, "editedAt", 1, "hidden", 1)))
	}
	gone, removal := prune(branch)
	ids := mdb.Map(branch[:gone], func(d *Document) social.CommentID { return d.ID })
	if _, err := t.comments.DeleteMany(ctx, mdb.Doc("_id", mdb.Doc("$in", ids), "post", post)); err != nil || gone == len(branch) {
		return removal, err
	}
	return removal, mdb.UpdateOne(ctx, t.comments, mdb.Doc("_id", branch[gone].ID, "post", post), mdb.Doc("$inc", mdb.Doc("replies", -1)))
}

// prune returns how many comments of a branch go with the first one, itself included.
func prune(branch []Document) (gone int, r social.Removal) {
	gone = 1
	for gone < len(branch) && branch[gone].Deleted && branch[gone].Replies == 1 {
		r.Tombstones = append(r.Tombstones, branch[gone].ID)
		gone++
	}
	if gone < len(branch) {
		r.Above = branch[gone].ID
	}
	return gone, r
}

// branch reads a live comment and its ancestors, upwards. ErrNotFound.
func (t inDocuments) branch(ctx context.Context, comment social.CommentID, post social.PostID) ([]Document, error) {
	var own Document
	if err := mdb.OrNotFound(t.comments.FindOne(ctx, live(mdb.Doc("_id", comment, "post", post))).Decode(&own)); err != nil {
		return nil, err
	}
	ancestors := own.Comment().AncestorIDs()
	if len(ancestors) == 0 {
		return []Document{own}, nil
	}
	docs, err := mdb.FindAll[Document](ctx, t.comments, mdb.Doc("_id", mdb.Doc("$in", ancestors), "post", post), len(ancestors),
		options.Find().SetHint(mdb.Doc("_id", 1)))
	slices.SortFunc(docs, func(a, b Document) int { return len(b.TreePath) - len(a.TreePath) })
	return append([]Document{own}, docs...), err
}

func (t inDocuments) RemoveThread(ctx context.Context, post social.PostID) error {
	_, err := t.comments.DeleteMany(ctx, mdb.Doc("post", post), options.DeleteMany().SetHint(byPost))
	return err
}

func (t inDocuments) RemovePart(ctx context.Context, post social.PostID, most int) (bool, error) {
	docs, err := mdb.FindAll[Document](ctx, t.comments, mdb.Doc("post", post), most,
		options.Find().SetLimit(int64(most)).SetHint(byPost).SetProjection(mdb.Doc("_id", 1)))
	if err != nil || len(docs) == 0 {
		return false, err
	}
	ids := mdb.Map(docs, func(d *Document) social.CommentID { return d.ID })
	_, err = t.comments.DeleteMany(ctx, mdb.Doc("_id", mdb.Doc("$in", mdb.Values(ids)), "post", post))
	return true, err
}

func (t inDocuments) Thread(ctx context.Context, post social.PostID) ([]Document, error) {
	inTime := options.Find().SetSort(mdb.Doc("seq", 1)).SetHint(byPost)
	return mdb.FindAll[Document](ctx, t.comments, mdb.Doc("post", post), mdb.InBatch, inTime)
}

func (t inDocuments) Parts(post social.PostID, comments []Document) ([]Part, error) {
	docs := slices.Clone(comments)
	for i := range docs {
		docs[i].Seq, docs[i].Post = docs[i].ID, post
	}
	return partsOf(t.comments, docs, LongThread), nil
}

func (t inDocuments) ByID(ctx context.Context, ids []social.CommentID) ([]Document, error) {
	return mdb.FindIn[Document](ctx, t.comments, "_id", ids)
}

func (t inDocuments) BySlug(ctx context.Context, links []social.Permalink) ([]Document, error) {
	var all []Document
	for batch := range slices.Chunk(links, mdb.ListsInBatch) {
		docs, err := mdb.FindAll[Document](ctx, t.comments, slugFilter(batch), len(batch))
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

func (t inDocuments) Pages(ctx context.Context, lists []social.List[social.Thread]) (map[social.List[social.Thread]][]*social.Comment, error) {
	query := func(list social.List[social.Thread]) mdb.ListQuery { return threadQuery(list.Of) }
	return mdb.Pages(ctx, t.comments, lists, query, (*Document).Comment)
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
		// The texts of ids have no character after "z", so "~" is after everything under the
		// comment.
		q.Bounds = mdb.Doc("$gte", textKey(t.Under))
		q.Page.Before = t.Under + "~"
	}
	return q
}

// textKey is the stored form of a list key that is a text.
func textKey(k social.Key) any { return string(k) }

func (t inDocuments) Newest(ctx context.Context, posts []social.PostID, without []social.UserID, n int) ([][]Document, error) {
	queries := make([]mdb.ListQuery, len(posts))
	for i, post := range posts {
		queries[i] = newest(post, without, n)
	}
	return mdb.ReadLists[Document](ctx, t.comments, queries)
}

// newest lists a post's newest comments that are shown, newest first.
func newest(post social.PostID, without []social.UserID, n int) mdb.ListQuery {
	filter := shown(mdb.Doc("post", post))
	if len(without) > 0 {
		filter = append(filter, bson.E{Key: "author", Value: mdb.Doc("$nin", without)})
	}
	return mdb.ListQuery{Filter: filter, Key: "seq", Value: mdb.IDKey, Desc: true, Hint: byPost, Page: social.Page{Limit: n}}
}

func (t inDocuments) By(ctx context.Context, lists []social.List[social.UserID]) (map[social.List[social.UserID]][]*social.Comment, error) {
	query := func(list social.List[social.UserID]) mdb.ListQuery {
		return writtenBy(mdb.Doc("author", list.Of), list.Page)
	}
	return mdb.Pages(ctx, t.comments, lists, query, (*Document).Comment)
}

func (t inDocuments) CountBy(ctx context.Context, author social.UserID, upTo social.CommentID) (int, error) {
	return countUpTo(ctx, t.comments, author, upTo)
}

func (t inDocuments) fill(_ social.PostID, docs []Document) (filling, error) {
	return filling{threads: t.comments, filled: mdb.Map(docs, func(d *Document) filled {
		d.Seq = d.ID
		return filled{d.ID, *d}
	})}, nil
}
