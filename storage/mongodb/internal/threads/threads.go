package threads

import (
	"context"
	"errors"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/batch"
	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
)

// Insert stores comments on posts that the transaction has already written. Comments on the same
// post follow one another. ErrNotFound: a parent. ErrTaken: a slug. ErrThreadFull.
func (t *Threads) Insert(ctx context.Context, comments []*social.Comment) error {
	if err := t.count(ctx, comments); err != nil {
		return err
	}
	if used := t.inUse(ctx); used.moving == nil {
		return used.read.Insert(ctx, comments)
	}
	for _, thread := range batch.Runs(comments, func(c **social.Comment) social.PostID { return (*c).Post }) {
		err := t.change(ctx, thread[0].Post, func(home Layout) error { return home.Insert(ctx, thread) })
		if err != nil {
			return err
		}
	}
	return nil
}

func postOf(d *Document) social.PostID { return d.Post }

// count adds comments to their posts: to the number, to the newest ones (which stay in the order of
// their ids, whatever the order of the commits), and to the replies of those parents that are among
// these.
func (t *Threads) count(ctx context.Context, comments []*social.Comment) error {
	var models []mongo.WriteModel
	for _, docs := range batch.Runs(newDocuments(comments), postOf) {
		post := docs[0].Post
		if counts := repliesOf(docs); len(counts) > 0 {
			parents := mdb.Map(counts, func(c *replyCount) social.CommentID { return c.parent })
			models = append(models, addReplies(mdb.Doc("_id", post, "latest._id", mdb.Doc("$in", parents)), "latest", counts))
		}
		push := mdb.Doc("$each", CopiesOf(docs, t.writes("posts")), "$sort", mdb.Doc("_id", 1), "$slice", -social.PreviewSize)
		models = append(models, mongo.NewUpdateOneModel().SetFilter(mdb.Doc("_id", post)).SetUpdate(mdb.Doc(
			"$inc", mdb.Doc("commentCount", len(docs), "changes", 1, "threadRevision", 1), "$push", mdb.Doc("latest", push))))
	}
	_, err := t.posts.BulkWrite(ctx, models)
	return err
}

// Edit changes a live comment that is not hidden. ErrNotFound. ErrThreadFull.
func (t *Threads) Edit(ctx context.Context, post social.PostID, comment social.CommentID, text string, at time.Time) error {
	copies := options.UpdateOne().SetArrayFilters([]any{mdb.Doc("c._id", comment)})
	result, err := t.posts.UpdateOne(ctx, mdb.Doc("_id", post), mdb.Doc(
		"$inc", mdb.Doc("changes", 1, "threadRevision", 1),
		"$set", mdb.Doc("latest.$[c].text", text, "latest.$[c].editedAt", at)), copies)
	if err != nil {
		return err
	}
	if result.MatchedCount == 0 {
		return social.ErrNotFound
	}
	return t.change(ctx, post, func(home Layout) error { return home.Edit(ctx, post, comment, text, at) })
}

// Hide hides a live comment, or shows it again. ErrNotFound.
func (t *Threads) Hide(ctx context.Context, post social.PostID, comment social.CommentID, hide bool) error {
	if err := t.touch(ctx, post, 0); err != nil {
		return err
	}
	if err := t.change(ctx, post, func(home Layout) error { return home.Hide(ctx, post, comment, hide) }); err != nil {
		return err
	}
	return t.refreshLatest(ctx, post)
}

// Delete deletes a live comment, or replaces it with a tombstone. ErrNotFound.
func (t *Threads) Delete(ctx context.Context, post social.PostID, comment social.CommentID) (r social.Removal, err error) {
	if err := t.touch(ctx, post, -1); err != nil {
		return r, err
	}
	if r, err = t.remove(ctx, post, comment); err != nil {
		return r, err
	}
	return r, t.refreshLatest(ctx, post)
}

// Deleted is a comment that DeleteAll has deleted.
type Deleted struct {
	Comment social.CommentID
	social.Removal
}

// DeleteAll does the same with several comments on a post, and returns those that were there. If it
// returns none, the caller gives the transaction up. ErrNotFound: the post is gone.
func (t *Threads) DeleteAll(ctx context.Context, post social.PostID, comments []social.CommentID) (deleted []Deleted, err error) {
	if err := t.touch(ctx, post, 0); err != nil {
		return nil, err
	}
	for _, comment := range comments {
		removal, err := t.remove(ctx, post, comment)
		if errors.Is(err, social.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		deleted = append(deleted, Deleted{comment, removal})
	}
	if len(deleted) == 0 {
		return nil, nil
	}
	if err := mdb.UpdateOne(ctx, t.posts, mdb.Doc("_id", post), mdb.Doc("$inc", mdb.Doc("commentCount", -len(deleted)))); err != nil {
		return nil, err
	}
	return deleted, t.refreshLatest(ctx, post)
}

// touch writes the post first: from here on, other changes of the thread wait or run again.
func (t *Threads) touch(ctx context.Context, post social.PostID, comments int) error {
	count := mdb.Doc("changes", 1, "threadRevision", 1)
	if comments != 0 {
		count = append(mdb.Doc("commentCount", comments), count...)
	}
	return mdb.UpdateOne(ctx, t.posts, mdb.Doc("_id", post), mdb.Doc("$inc", count))
}

func (t *Threads) remove(ctx context.Context, post social.PostID, comment social.CommentID) (r social.Removal, err error) {
	err = t.change(ctx, post, func(home Layout) (err error) {
		r, err = home.Remove(ctx, post, comment)
		return err
	})
	return r, err
}

// refreshLatest reads a post's newest comments again.
func (t *Threads) refreshLatest(ctx context.Context, post social.PostID) error {
	newest, err := t.Newest(ctx, []social.PostID{post}, nil, social.PreviewSize)
	if err != nil {
		return err
	}
	latest := CopiesOf(newest[0], t.writes("posts"))
	slices.Reverse(latest)
	return mdb.UpdateOne(ctx, t.posts, mdb.Doc("_id", post), mdb.Doc("$set", mdb.Doc("latest", latest)))
}

// The reads are those of the layout that is read; see [Layout].

// PostOf reads which post a comment belongs to.
func (t *Threads) PostOf(ctx context.Context, comment social.CommentID) (social.PostID, error) {
	return t.read(ctx).PostOf(ctx, comment)
}

// ByID reads comments.
func (t *Threads) ByID(ctx context.Context, ids []social.CommentID) ([]Document, error) {
	return t.read(ctx).ByID(ctx, ids)
}

// BySlug reads comments by their permalinks.
func (t *Threads) BySlug(ctx context.Context, links []social.Permalink) ([]Document, error) {
	return t.read(ctx).BySlug(ctx, links)
}

// Pages reads one page of each of the lists.
func (t *Threads) Pages(ctx context.Context, lists []social.List[social.Thread]) (map[social.List[social.Thread]][]*social.Comment, error) {
	return t.read(ctx).Pages(ctx, lists)
}

// By reads one page of the live comments of each author.
func (t *Threads) By(ctx context.Context, lists []social.List[social.UserID]) (map[social.List[social.UserID]][]*social.Comment, error) {
	return t.read(ctx).By(ctx, lists)
}

// CountBy counts the live comments of an author.
func (t *Threads) CountBy(ctx context.Context, author social.UserID, upTo social.CommentID) (int, error) {
	return t.read(ctx).CountBy(ctx, author, upTo)
}

// Newest reads the newest comments of each post that are live and not hidden.
func (t *Threads) Newest(ctx context.Context, posts []social.PostID, without []social.UserID, n int) ([][]Document, error) {
	return t.read(ctx).Newest(ctx, posts, without, n)
}
