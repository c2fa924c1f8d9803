package mongodb

import (
	"context"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"plaza/id"
	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
)

// Every change of a thread writes its post's document, if only by threadRevision. So two changes of one thread always
// conflict, one of them runs again on what the other left, and Post.Latest can't go stale.

// commentDoc is a document of comments, and of the copies in a post's latest.
type commentDoc struct {
	ID       social.CommentID `bson:"_id"`
	Version  int              `bson:"v"`
	Seq      social.CommentID `bson:"seq,omitempty"`  // the id again: see indexes; not in the copies
	Post     social.PostID    `bson:"post,omitempty"` // not in buckets
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

func (d *commentDoc) SetField(r *mdb.Reader, field []byte, v bsoncore.Value) {
	switch string(field) {
	case "_id":
		r.ID(v, &d.ID.ID)
	case "v":
		r.Int(v, &d.Version)
	case "seq":
		r.ID(v, &d.Seq.ID)
	case "post":
		r.ID(v, &d.Post.ID)
	case "parent":
		r.ID(v, &d.Parent.ID)
	case "slug":
		r.Text(v, &d.Slug)
	case "path":
		r.Text(v, &d.Path)
	case "treePath":
		r.Text(v, &d.TreePath)
	case "author":
		r.ID(v, &d.Author.ID)
	case "text":
		r.Text(v, &d.Text)
	case "editedAt":
		r.Time(v, &d.EditedAt)
	case "replies":
		r.Int(v, &d.Replies)
	case "deleted":
		r.Bool(v, &d.Deleted)
	}
}

func (d *commentDoc) Evolve() error { return known("comments", d.Version) }

// newCommentDoc is the copy in a post: the document itself has Seq as well.
func newCommentDoc(c *social.Comment) commentDoc {
	return commentDoc{
		ID: c.ID, Version: mdb.FirstVersion, Post: c.Post, Parent: c.Parent, Slug: c.Slug, Path: c.Path,
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
		Author: d.Author, Text: d.Text, EditedAt: mdb.UTC(d.EditedAt), Replies: d.Replies, Deleted: d.Deleted,
	}
}

// live matches comments that are no tombstones.
func live(filter bson.D) bson.D {
	return append(filter, bson.E{Key: "deleted", Value: mdb.Doc("$exists", false)})
}

// newComment is a comment on its way into the database.
type newComment struct {
	given  social.Comment
	event  social.Event
	stored *social.Comment // set by the transaction
}

// InsertComment implements social.Comments.
func (s *Store) InsertComment(ctx context.Context, c *social.Comment, e social.Event) error {
	limited, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	own := &newComment{given: *c, event: e}
	if err := s.newComments.Do(limited, c.Post, own); err != nil {
		return mdb.Translate(ctx, "insert comment", err)
	}
	c.ID, c.TreePath = own.stored.ID, own.stored.TreePath
	return nil
}

// insertComments stores comments on one post in one transaction.
func (s *Store) insertComments(ctx context.Context, post social.PostID, batch []*newComment) error {
	return s.db.Write(ctx, "insert comment", []id.ID{post.ID}, func(ctx context.Context) error {
		events, err := s.numberComments(ctx, post, batch)
		if err != nil {
			return err
		}
		comments := mdb.Map(batch, func(c **newComment) *social.Comment { return (*c).stored })
		if err := s.countComments(ctx, comments); err != nil {
			return err
		}
		if err := s.threads.insert(ctx, comments); err != nil {
			return err
		}
		if err := s.append(ctx, events...); err != nil {
			return err
		}
		return s.feeds.postChanged(ctx, post)
	})
}

// numberComments gives ids to comments that have none, behind all that the thread has had and behind their parents. ErrNotFound.
func (s *Store) numberComments(ctx context.Context, post social.PostID, batch []*newComment) ([]social.Event, error) {
	var floor int64
	n := 0
	for _, c := range batch {
		floor = max(floor, c.given.ID.Serial(), c.given.Parent.Serial())
		if c.given.ID.IsZero() {
			n++
		}
	}
	next, err := serials(ctx, s.posts, post, floor, n, false)
	if err != nil {
		return nil, err
	}
	events := make([]social.Event, len(batch))
	for i, c := range batch {
		stored := c.given // a copy for each attempt
		c.stored, events[i] = &stored, c.event
		if c.given.ID.IsZero() {
			stored.SetID(social.CommentID{ID: id.WithSerial(next)})
			events[i].Comment = stored.ID
			next++
		}
	}
	return events, nil
}

// countComments adds comments to their post: to the count, to the newest ones (which stay in the order of their ids,
// whatever the order of the commits), and to those of their parents that are among these.
func (s *Store) countComments(ctx context.Context, comments []*social.Comment) error {
	docs := newCommentDocs(comments)
	own := mdb.Doc("_id", docs[0].Post)
	var models []mongo.WriteModel
	if counts := repliesOf(docs); len(counts) > 0 {
		parents := mdb.Map(counts, func(c *replyCount) social.CommentID { return c.parent })
		models = append(models, addReplies(mdb.Doc("_id", docs[0].Post, "latest._id", mdb.Doc("$in", parents)), "latest", counts))
	}
	push := mdb.Doc("$each", docs, "$sort", mdb.Doc("_id", 1), "$slice", -social.PreviewSize)
	models = append(models, mongo.NewUpdateOneModel().SetFilter(own).SetUpdate(mdb.Doc(
		"$inc", mdb.Doc("commentCount", len(docs), "changes", 1, "threadRevision", 1), "$push", mdb.Doc("latest", push))))
	result, err := s.posts.BulkWrite(ctx, models)
	if err == nil && result.MatchedCount == 0 {
		return social.ErrNotFound
	}
	return err
}

// EditComment implements social.Comments.
func (s *Store) EditComment(ctx context.Context, comment social.CommentID, text string, at time.Time, e social.Event) error {
	post, err := s.threadOf(ctx, comment)
	if err != nil {
		return err
	}
	return s.db.Write(ctx, "edit comment", []id.ID{post.ID}, func(ctx context.Context) error {
		copies := options.UpdateOne().SetArrayFilters([]any{mdb.Doc("c._id", comment)})
		result, err := s.posts.UpdateOne(ctx, mdb.Doc("_id", post), mdb.Doc(
			"$inc", mdb.Doc("changes", 1, "threadRevision", 1),
			"$set", mdb.Doc("latest.$[c].text", text, "latest.$[c].editedAt", at)), copies)
		if err != nil {
			return err
		}
		if result.MatchedCount == 0 {
			return social.ErrNotFound
		}
		if err := s.threads.edit(ctx, post, comment, text, at); err != nil {
			return err
		}
		if err := s.feeds.postChanged(ctx, post); err != nil {
			return err
		}
		return s.append(ctx, e)
	})
}

// threadOf reads which post a comment belongs to; that never changes.
func (s *Store) threadOf(ctx context.Context, comment social.CommentID) (post social.PostID, err error) {
	err = s.db.Read(ctx, "post of comment", func(ctx context.Context) error {
		post, err = s.threads.postOf(ctx, comment)
		return err
	})
	return post, err
}

// DeleteComment implements social.Comments.
func (s *Store) DeleteComment(ctx context.Context, comment social.CommentID, e social.Event) error {
	post, err := s.threadOf(ctx, comment)
	if err != nil {
		return err
	}
	return s.db.Write(ctx, "delete comment", []id.ID{post.ID}, func(ctx context.Context) error {
		// The post first: whoever else changes the thread waits or runs again from here on.
		if err := mdb.UpdateOne(ctx, s.posts, mdb.Doc("_id", post), mdb.Doc("$inc", mdb.Doc("commentCount", -1, "changes", 1, "threadRevision", 1))); err != nil {
			return err
		}
		if err := s.threads.remove(ctx, post, comment); err != nil {
			return err
		}
		if err := s.refreshLatest(ctx, post); err != nil {
			return err
		}
		if err := s.feeds.postChanged(ctx, post); err != nil {
			return err
		}
		return s.append(ctx, e)
	})
}

// refreshLatest reads a post's newest comments anew.
func (s *Store) refreshLatest(ctx context.Context, post social.PostID) error {
	newest, err := s.threads.newest(ctx, []social.PostID{post}, nil, social.PreviewSize)
	if err != nil {
		return err
	}
	latest := make([]commentDoc, len(newest[0])) // an array also when it is empty
	for i, d := range newest[0] {
		d.Seq = social.CommentID{}
		latest[len(latest)-1-i] = d
	}
	return mdb.UpdateOne(ctx, s.posts, mdb.Doc("_id", post), mdb.Doc("$set", mdb.Doc("latest", latest)))
}

// Comments implements social.Comments.
func (s *Store) Comments(ctx context.Context, ids []social.CommentID) (map[social.CommentID]*social.Comment, error) {
	all := make(map[social.CommentID]*social.Comment, len(ids))
	err := s.db.Read(ctx, "comments", func(ctx context.Context) error {
		docs, err := s.threads.byID(ctx, ids)
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
	err := s.db.Read(ctx, "comments by slug", func(ctx context.Context) error {
		docs, err := s.threads.bySlug(ctx, links)
		for i := range docs {
			all[social.Permalink{Post: docs[i].Post, Slug: docs[i].Slug}] = docs[i].comment()
		}
		return err
	})
	return all, err
}

// Thread implements social.Comments.
func (s *Store) Thread(ctx context.Context, lists []social.List[social.Thread]) (threads map[social.List[social.Thread]][]*social.Comment, err error) {
	err = s.db.Read(ctx, "thread", func(ctx context.Context) error {
		threads, err = s.threads.pages(ctx, lists)
		return err
	})
	return threads, err
}

// CommentsBy implements social.Comments.
func (s *Store) CommentsBy(ctx context.Context, lists []social.List[social.UserID]) (comments map[social.List[social.UserID]][]*social.Comment, err error) {
	err = s.db.Read(ctx, "comments by", func(ctx context.Context) error {
		comments, err = s.threads.by(ctx, lists)
		return err
	})
	return comments, err
}

// LatestComments implements social.Comments.
func (s *Store) LatestComments(ctx context.Context, posts []social.PostID, without []social.UserID, n int) (map[social.PostID][]*social.Comment, error) {
	all := make(map[social.PostID][]*social.Comment, len(posts))
	if len(posts) == 0 || n <= 0 {
		return all, nil
	}
	err := s.db.Read(ctx, "latest comments", func(ctx context.Context) error {
		newest, err := s.threads.newest(ctx, posts, without, n)
		for i, docs := range newest {
			slices.Reverse(docs)
			all[posts[i]] = mdb.Map(docs, (*commentDoc).comment)
		}
		return err
	})
	return all, err
}
