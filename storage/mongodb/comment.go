package mongodb

import (
	"context"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/id"
	"plaza/social"
)

// Every change of a thread writes its post's document, if only by threadRevision. So two changes of one thread always
// conflict, one of them runs again on what the other left, and Post.Latest can't go stale.

// commentDoc is a document of comments, and of the copies in a post's latest.
type commentDoc struct {
	ID       social.CommentID `bson:"_id"`
	Version  int              `bson:"v"`
	Seq      social.CommentID `bson:"seq,omitempty"` // the id again: see indexes; not in the copies
	Post     social.PostID    `bson:"post"`
	Parent   social.CommentID `bson:"parent,omitempty"`
	Slug     string           `bson:"slug"`
	Path     string           `bson:"path"`
	TreePath string           `bson:"treePath"` // text: binaries would sort by their length first
	Author   social.UserID    `bson:"author,omitempty"`
	Text     string           `bson:"text,omitempty"`
	EditedAt time.Time        `bson:"editedAt,omitempty"`
	Replies  int              `bson:"replies"`
	Deleted  bool             `bson:"deleted,omitempty"`
}

// newCommentDoc is the copy in a post: the document itself has Seq as well.
func newCommentDoc(c *social.Comment) commentDoc {
	return commentDoc{
		ID: c.ID, Version: version, Post: c.Post, Parent: c.Parent, Slug: c.Slug, Path: c.Path,
		TreePath: string(c.TreePath), Author: c.Author, Text: c.Text, EditedAt: c.EditedAt,
		Replies: c.Replies, Deleted: c.Deleted,
	}
}

func newCommentDocs(comments []*social.Comment) []commentDoc {
	docs := make([]commentDoc, len(comments))
	for i, c := range comments {
		docs[i] = newCommentDoc(c)
	}
	return docs
}

func (d *commentDoc) comment() *social.Comment {
	return &social.Comment{
		ID: d.ID, Post: d.Post, Parent: d.Parent, Slug: d.Slug, Path: d.Path, TreePath: social.Key(d.TreePath),
		Author: d.Author, Text: d.Text, EditedAt: utc(d.EditedAt), Replies: d.Replies, Deleted: d.Deleted,
	}
}

// live matches comments that are no tombstones.
func live(filter bson.D) bson.D {
	return append(filter, bson.E{Key: "deleted", Value: doc("$exists", false)})
}

// InsertComment implements social.Comments.
func (s *Store) InsertComment(ctx context.Context, c *social.Comment, e social.Event) error {
	own := newCommentDoc(c)
	own.Seq = c.ID
	return s.write(ctx, "insert comment", []id.ID{c.Post.ID}, func(ctx context.Context) error {
		if err := s.countComment(ctx, c); err != nil {
			return err
		}
		if !c.Parent.IsZero() {
			parent := live(doc("_id", c.Parent, "post", c.Post))
			if err := updateOne(ctx, s.comments, parent, doc("$inc", doc("replies", 1))); err != nil {
				return err
			}
		}
		if _, err := s.comments.InsertOne(ctx, own); err != nil {
			return inserted(err)
		}
		return s.append(ctx, e)
	})
}

// countComment adds a comment to its post: to the count, to the newest ones (which stay in the order of their ids,
// whatever the order of the commits), and to its parent's copy, if there is one.
func (s *Store) countComment(ctx context.Context, c *social.Comment) error {
	push := doc("$each", bson.A{newCommentDoc(c)}, "$sort", doc("_id", 1), "$slice", -social.PreviewSize)
	add := mongo.NewUpdateOneModel().SetFilter(doc("_id", c.Post)).SetUpdate(doc(
		"$inc", doc("commentCount", 1, "threadRevision", 1), "$push", doc("latest", push)))
	models := []mongo.WriteModel{add}
	if !c.Parent.IsZero() {
		models = []mongo.WriteModel{
			mongo.NewUpdateOneModel().SetFilter(doc("_id", c.Post, "latest._id", c.Parent)).
				SetUpdate(doc("$inc", doc("latest.$.replies", 1))), add,
		}
	}
	result, err := s.posts.BulkWrite(ctx, models)
	if err == nil && result.MatchedCount == 0 {
		return social.ErrNotFound
	}
	return err
}

// EditComment implements social.Comments.
func (s *Store) EditComment(ctx context.Context, comment social.CommentID, text string, at time.Time, e social.Event) error {
	post, err := s.postOf(ctx, comment)
	if err != nil {
		return err
	}
	return s.write(ctx, "edit comment", []id.ID{post.ID}, func(ctx context.Context) error {
		copies := options.UpdateOne().SetArrayFilters([]any{doc("c._id", comment)})
		result, err := s.posts.UpdateOne(ctx, doc("_id", post), doc(
			"$inc", doc("threadRevision", 1),
			"$set", doc("latest.$[c].text", text, "latest.$[c].editedAt", at)), copies)
		if err != nil {
			return err
		}
		if result.MatchedCount == 0 {
			return social.ErrNotFound
		}
		edit := doc("$set", doc("text", text, "editedAt", at))
		if err := updateOne(ctx, s.comments, live(doc("_id", comment, "post", post)), edit); err != nil {
			return err
		}
		return s.append(ctx, e)
	})
}

// postOf reads which post a comment belongs to; that never changes.
func (s *Store) postOf(ctx context.Context, comment social.CommentID) (social.PostID, error) {
	var d commentDoc
	err := s.read(ctx, "post of comment", func(ctx context.Context) error {
		only := options.FindOne().SetProjection(doc("post", 1))
		return found(s.comments.FindOne(ctx, doc("_id", comment), only).Decode(&d))
	})
	return d.Post, err
}

// DeleteComment implements social.Comments.
func (s *Store) DeleteComment(ctx context.Context, comment social.CommentID, e social.Event) error {
	post, err := s.postOf(ctx, comment)
	if err != nil {
		return err
	}
	return s.write(ctx, "delete comment", []id.ID{post.ID}, func(ctx context.Context) error {
		// The post first: whoever else changes the thread waits or runs again from here on.
		if err := updateOne(ctx, s.posts, doc("_id", post), doc("$inc", doc("commentCount", -1, "threadRevision", 1))); err != nil {
			return err
		}
		if err := s.removeComment(ctx, comment, post); err != nil {
			return err
		}
		if err := s.refreshLatest(ctx, post); err != nil {
			return err
		}
		return s.append(ctx, e)
	})
}

// removeComment makes a tombstone of the comment, or removes it with the tombstones above it that it was the last reply of.
func (s *Store) removeComment(ctx context.Context, comment social.CommentID, post social.PostID) error {
	branch, err := s.branch(ctx, comment, post)
	if err != nil {
		return err
	}
	own := branch[0]
	if own.Replies > 0 {
		return updateOne(ctx, s.comments, doc("_id", own.ID, "post", post), doc(
			"$set", doc("deleted", true), "$unset", doc("author", 1, "text", 1, "editedAt", 1)))
	}
	gone := 1
	for gone < len(branch) && branch[gone].Deleted && branch[gone].Replies == 1 {
		gone++
	}
	ids := each(branch[:gone], func(d *commentDoc) social.CommentID { return d.ID })
	if _, err := s.comments.DeleteMany(ctx, doc("_id", doc("$in", ids), "post", post)); err != nil || gone == len(branch) {
		return err
	}
	return updateOne(ctx, s.comments, doc("_id", branch[gone].ID, "post", post), doc("$inc", doc("replies", -1)))
}

// branch reads a live comment and its ancestors, upwards.
func (s *Store) branch(ctx context.Context, comment social.CommentID, post social.PostID) ([]commentDoc, error) {
	var own commentDoc
	if err := found(s.comments.FindOne(ctx, live(doc("_id", comment, "post", post))).Decode(&own)); err != nil {
		return nil, err
	}
	ancestors := own.comment().AncestorIDs()
	if len(ancestors) == 0 {
		return []commentDoc{own}, nil
	}
	docs, err := findAll[commentDoc](ctx, s.comments, doc("_id", doc("$in", ancestors), "post", post), len(ancestors),
		options.Find().SetHint(doc("_id", 1)))
	slices.SortFunc(docs, func(a, b commentDoc) int { return len(b.TreePath) - len(a.TreePath) })
	return append([]commentDoc{own}, docs...), err
}

// refreshLatest reads a post's newest comments anew.
func (s *Store) refreshLatest(ctx context.Context, post social.PostID) error {
	q := newest(post, nil, social.PreviewSize)
	docs, err := readList[commentDoc](ctx, s.comments, q)
	if err != nil {
		return err
	}
	latest := make([]commentDoc, len(docs)) // an array also when it is empty
	for i, d := range docs {
		d.Seq = social.CommentID{}
		latest[len(docs)-1-i] = d
	}
	return updateOne(ctx, s.posts, doc("_id", post), doc("$set", doc("latest", latest)))
}

// newest lists a post's newest live comments, newest first.
func newest(post social.PostID, without []social.UserID, n int) listQuery {
	filter := live(doc("post", post))
	if len(without) > 0 {
		filter = append(filter, bson.E{Key: "author", Value: doc("$nin", without)})
	}
	return listQuery{filter: filter, key: "seq", value: idKey, desc: true, hint: byPost, page: social.Page{Limit: n}}
}

// Comments implements social.Comments.
func (s *Store) Comments(ctx context.Context, ids []social.CommentID) (map[social.CommentID]*social.Comment, error) {
	all := make(map[social.CommentID]*social.Comment, len(ids))
	err := s.read(ctx, "comments", func(ctx context.Context) error {
		docs, err := findIn[commentDoc](ctx, s.comments, "_id", ids)
		for i := range docs {
			all[docs[i].ID] = docs[i].comment()
		}
		return err
	})
	return all, err
}

// CommentsBySlug implements social.Comments.
func (s *Store) CommentsBySlug(ctx context.Context, links []social.Permalink) (map[social.Permalink]*social.Comment, error) {
	all := make(map[social.Permalink]*social.Comment, len(links))
	err := s.read(ctx, "comments by slug", func(ctx context.Context) error {
		for batch := range slices.Chunk(links, listsInBatch) {
			docs, err := findAll[commentDoc](ctx, s.comments, slugFilter(batch), len(batch))
			if err != nil {
				return err
			}
			for i := range docs {
				all[social.Permalink{Post: docs[i].Post, Slug: docs[i].Slug}] = docs[i].comment()
			}
		}
		return nil
	})
	return all, err
}

// slugFilter matches (post, slug) pairs, each by one seek.
func slugFilter(links []social.Permalink) bson.D {
	one := func(l social.Permalink) bson.D { return doc("post", l.Post, "slug", l.Slug) }
	if len(links) == 1 {
		return one(links[0])
	}
	pairs := make(bson.A, len(links))
	for i, l := range links {
		pairs[i] = one(l)
	}
	return doc("$or", pairs)
}

// Thread implements social.Comments.
func (s *Store) Thread(ctx context.Context, lists []social.List[social.Thread]) (threads map[social.List[social.Thread]][]*social.Comment, err error) {
	query := func(list social.List[social.Thread]) listQuery { return threadQuery(list.Of) }
	err = s.read(ctx, "thread", func(ctx context.Context) error {
		threads, err = pagesOf(ctx, s.comments, lists, query, (*commentDoc).comment)
		return err
	})
	return threads, err
}

func threadQuery(t social.Thread) listQuery {
	switch {
	case t.Order == social.OrderThreaded:
		return treeQuery(t)
	case !t.Parent.IsZero():
		return listQuery{
			filter: doc("post", t.Post, "parent", t.Parent), key: "seq", value: idKey,
			desc: t.Order == social.OrderNewest, hint: byPostParent,
		}
	}
	return listQuery{
		filter: doc("post", t.Post), key: "seq", value: idKey, desc: t.Order == social.OrderNewest, hint: byPost,
	}
}

func treeQuery(t social.Thread) listQuery {
	q := listQuery{filter: doc("post", t.Post), key: "treePath", value: textKey, hint: byPostTree}
	if t.Under != "" {
		// Ids' texts have no character behind "z", so "~" is behind everything under the comment.
		q.bounds = doc("$gte", textKey(t.Under))
		q.page.Before = t.Under + "~"
	}
	return q
}

// textKey is the stored form of a list key that is a text.
func textKey(k social.Key) any { return string(k) }

// LatestComments implements social.Comments.
func (s *Store) LatestComments(ctx context.Context, posts []social.PostID, without []social.UserID, n int) (map[social.PostID][]*social.Comment, error) {
	queries := make([]listQuery, len(posts))
	for i, post := range posts {
		queries[i] = newest(post, without, n)
	}
	all := make(map[social.PostID][]*social.Comment, len(posts))
	if len(posts) == 0 || n <= 0 {
		return all, nil
	}
	err := s.read(ctx, "latest comments", func(ctx context.Context) error {
		pages, err := readLists[commentDoc](ctx, s.comments, queries)
		for i, docs := range pages {
			slices.Reverse(docs)
			all[posts[i]] = each(docs, (*commentDoc).comment)
		}
		return err
	})
	return all, err
}
