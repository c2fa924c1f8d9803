package mongodb

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/batch"
	"plaza/id"
	"plaza/social"
	"plaza/storage/mongodb/internal/audience"
	"plaza/storage/mongodb/internal/mdb"
	"plaza/storage/mongodb/internal/serials"
	"plaza/storage/mongodb/internal/threads"
)

func newPostDoc(p *social.Post, v int) postDoc {
	d := postDoc{
		ID: p.ID, Version: v, Seq: p.ID, Author: p.Author, WallOwner: p.WallOwner,
		Audience: audience.Document(p.Audience), Inbox: inboxOf(p),
		EditedAt: p.EditedAt, Revision: p.Revision,
		CommentCount: p.CommentCount, Latest: threads.Copies(p.Latest, v), Reactions: p.Reactions, Votes: p.Votes,
	}
	d.Type, d.Detail = newDetail(p.Content)
	if p.Replies.Kind != social.RepliesEveryone {
		d.ReplyKind, d.ReplyCircles = p.Replies.Kind, p.Replies.Circles
	}
	if p.Order != social.OrderOldest {
		d.CommentOrder = p.Order
	}
	if d.Votes == nil && p.Content.Poll != nil {
		d.Votes = make([]int, len(p.Content.Poll.Options))
	}
	return d
}

func (d *postDoc) post() *social.Post {
	for kind, n := range d.Reactions {
		if n == 0 {
			delete(d.Reactions, kind)
		}
	}
	return &social.Post{
		ID: d.ID, Author: d.Author, WallOwner: d.WallOwner, Audience: social.Audience(d.Audience),
		Content: d.Detail.content(d.Type), EditedAt: mdb.UTC(d.EditedAt), Edits: d.Edits, Revision: d.Revision,
		CommentCount: d.CommentCount, Latest: threads.Copied(d.ID, d.Latest),
		Reactions: d.Reactions, Votes: d.Votes, Muters: d.Muters,
		Replies: social.ReplyPolicy{Kind: cmp.Or(d.ReplyKind, social.RepliesEveryone), Circles: d.ReplyCircles},
		Order:   cmp.Or(d.CommentOrder, social.OrderOldest),
	}
}

// inboxOf returns keys for the users who may find a post in Incoming: the wall that it was directed
// at, all circles of its author, or the listed ones. Readers look for these keys.
func inboxOf(p *social.Post) []bson.Binary {
	var keys []bson.Binary
	if p.WallOwner != p.Author {
		keys = append(keys, inboxKey('w', p.WallOwner.ID))
	}
	switch p.Audience.Kind {
	case social.AudienceCircles:
		keys = append(keys, inboxKey('a', p.Author.ID))
	case social.AudiencePublic, social.AudienceOnlyMe, social.AudienceHidden:
	case social.AudienceListed:
		for _, circle := range p.Audience.Circles {
			keys = append(keys, inboxKey('c', circle.ID))
		}
	}
	return keys
}

func inboxKey(kind byte, of id.ID) bson.Binary {
	return bson.Binary{Data: append([]byte{kind}, of[:]...)}
}

func newVersionDoc(p *social.Post, before *social.Version, v int) versionDoc {
	d := versionDoc{
		Version: v, Post: p.ID, Number: p.Revision, Audience: audience.Document(before.Audience), EditedAt: before.EditedAt,
	}
	d.Type, d.Detail = newDetail(before.Content)
	return d
}

func (d *versionDoc) version() social.Version {
	return social.Version{
		Content: d.Detail.content(d.Type), Audience: social.Audience(d.Audience), EditedAt: mdb.UTC(d.EditedAt),
	}
}

func newDetail(c social.Content) (social.PostType, detailDoc) {
	switch {
	case c.Status != nil:
		return social.TypeStatus, detailDoc{Text: c.Status.Text}
	case c.Photo != nil:
		return social.TypePhoto, detailDoc{
			Image:   &imageDoc{URL: c.Photo.URL, Alt: c.Photo.Alt, Width: c.Photo.Width, Height: c.Photo.Height},
			Caption: c.Photo.Caption,
		}
	case c.Link != nil:
		return social.TypeLink, detailDoc{URL: c.Link.URL, Title: c.Link.Title, Text: c.Link.Text}
	case c.Checkin != nil:
		return social.TypeCheckin, detailDoc{
			Place: c.Checkin.Place, Latitude: c.Checkin.Latitude, Longitude: c.Checkin.Longitude, Text: c.Checkin.Text,
			Image: newImage(c.Checkin.Photo),
		}
	case c.Poll != nil:
		return social.TypePoll, detailDoc{
			Question: c.Poll.Question, Options: c.Poll.Options, ClosesAt: c.Poll.ClosesAt,
		}
	}
	return "", detailDoc{}
}

func newImage(p *social.Picture) *imageDoc {
	if p == nil {
		return nil
	}
	return &imageDoc{URL: p.URL, Alt: p.Alt, Width: p.Width, Height: p.Height}
}

func (d *imageDoc) picture() *social.Picture {
	if d == nil {
		return nil
	}
	return &social.Picture{URL: d.URL, Alt: d.Alt, Width: d.Width, Height: d.Height}
}

func (d *detailDoc) content(t social.PostType) social.Content {
	switch t {
	case social.TypeStatus:
		return social.Content{Status: &social.Status{Text: d.Text}}
	case social.TypePhoto:
		image := cmp.Or(d.Image, &imageDoc{}) // never nil: see evolve
		return social.Content{Photo: &social.Photo{
			URL: image.URL, Alt: image.Alt, Caption: d.Caption, Width: image.Width, Height: image.Height,
		}}
	case social.TypeLink:
		return social.Content{Link: &social.Link{URL: d.URL, Title: d.Title, Text: d.Text}}
	case social.TypeCheckin:
		return social.Content{Checkin: &social.Checkin{
			Place: d.Place, Latitude: d.Latitude, Longitude: d.Longitude, Text: d.Text, Photo: d.Image.picture(),
		}}
	case social.TypePoll:
		return social.Content{Poll: &social.Poll{Question: d.Question, Options: d.Options, ClosesAt: mdb.UTC(d.ClosesAt)}}
	}
	return social.Content{}
}

// newPost is a post on its way into the database.
type newPost struct {
	given  social.Post
	event  social.Event
	stored *social.Post // set by the transaction
}

// InsertPost implements social.Posts. Every post changes the sequence, so a server puts concurrent
// posts into one transaction.
func (s *Store) InsertPost(ctx context.Context, p *social.Post, e social.Event) error {
	limited, cancel := s.db.Limit(ctx)
	defer cancel()
	own := &newPost{given: *p, event: e}
	if err := s.newPosts.Do(limited, postSequence, own); err != nil {
		return mdb.Translate(ctx, "insert post", err)
	}
	p.ID = own.stored.ID
	s.feeds.PostStored(p.ID)
	return nil
}

// insertPosts stores posts in one transaction.
func (s *Store) insertPosts(ctx context.Context, _ string, batch []*newPost) error {
	return s.db.Write(ctx, "insert post", nil, func(ctx context.Context) error {
		events, err := s.numberPosts(ctx, batch)
		if err != nil {
			return err
		}
		posts := mdb.Map(batch, func(p **newPost) *social.Post { return (*p).stored })
		docs := mdb.Map(posts, func(p **social.Post) postDoc { return newPostDoc(*p, s.writes("posts")) })
		for i := range docs {
			docs[i].Homes = s.inUse(ctx).threads.Marks()
		}
		if _, err := s.posts.InsertMany(ctx, docs); err != nil {
			return err
		}
		if err := s.openNewPolls(ctx, batch); err != nil {
			return err
		}
		if err := s.feeds.PostsAdded(ctx, posts); err != nil {
			return err
		}
		return s.log.Append(ctx, events...)
	})
}

// numberPosts gives ids to posts that have none: greater than those of all earlier posts.
func (s *Store) numberPosts(ctx context.Context, batch []*newPost) ([]social.Event, error) {
	floor, oldest := int64(0), int64(math.MaxInt64)
	n := 0
	for _, p := range batch {
		if p.given.ID.IsZero() {
			n++
			continue
		}
		floor = max(floor, p.given.ID.Serial())
		oldest = min(oldest, p.given.ID.Serial())
	}
	next, err := serials.Next(ctx, s.sequences, postSequence, floor, n, true, countBackdated(oldest))
	if err != nil {
		return nil, err
	}
	events := make([]social.Event, len(batch))
	for i, p := range batch {
		stored := p.given // a copy for each attempt
		p.stored, events[i] = &stored, p.event
		if p.given.ID.IsZero() {
			stored.ID = social.PostID{ID: id.WithSerial(next)}
			events[i].Post = stored.ID
			next++
		}
	}
	return events, nil
}

// UpdatePost implements social.Posts.
func (s *Store) UpdatePost(ctx context.Context, p *social.Post, replaced *social.Version, e social.Event) error {
	return s.db.Write(ctx, "update post", []id.ID{p.ID.ID}, func(ctx context.Context) error {
		return s.updatePost(ctx, p, replaced, e)
	})
}

// updatePost is UpdatePost in a transaction.
func (s *Store) updatePost(ctx context.Context, p *social.Post, replaced *social.Version, e social.Event) error {
	err := mdb.UpdateOne(ctx, s.posts, mdb.Doc("_id", p.ID, "revision", p.Revision-1), s.postChange(p, replaced))
	if errors.Is(err, social.ErrNotFound) {
		return s.whyNotUpdated(ctx, p.ID)
	}
	if err != nil {
		return err
	}
	if replaced != nil {
		if _, err := s.versions.InsertOne(ctx, newVersionDoc(p, replaced, s.writes("postVersions"))); err != nil {
			return err
		}
	}
	if err := s.feeds.PostsChanged(ctx, p.ID); err != nil {
		return err
	}
	return s.log.Append(ctx, e)
}

// postChange returns the update that gives a post its new content and audience.
func (s *Store) postChange(p *social.Post, replaced *social.Version) bson.D {
	d := newPostDoc(p, s.writes("posts"))
	set := mdb.Doc("audience", d.Audience, "type", d.Type, "detail", d.Detail, "revision", d.Revision)
	unset := bson.D{}
	set, unset = setOrUnset(set, unset, "inbox", d.Inbox, len(d.Inbox) > 0)
	set, unset = setOrUnset(set, unset, "replyKind", d.ReplyKind, d.ReplyKind != "")
	set, unset = setOrUnset(set, unset, "replyCircles", d.ReplyCircles, len(d.ReplyCircles) > 0)
	set, unset = setOrUnset(set, unset, "commentOrder", d.CommentOrder, d.CommentOrder != "")
	set, unset = setOrUnset(set, unset, "editedAt", d.EditedAt, !d.EditedAt.IsZero())
	count := mdb.Doc("changes", 1)
	if replaced != nil {
		count = append(count, bson.E{Key: "edits", Value: 1})
	}
	update := mdb.Doc("$set", set, "$inc", count, "$max", mdb.Doc("v", postContentVersion)) // the copies of comments stay as they are
	if len(unset) > 0 {
		update = append(update, bson.E{Key: "$unset", Value: unset})
	}
	return update
}

func setOrUnset(set, unset bson.D, field string, value any, present bool) (bson.D, bson.D) {
	if present {
		return append(set, bson.E{Key: field, Value: value}), unset
	}
	return set, append(unset, bson.E{Key: field, Value: 1})
}

func (s *Store) whyNotUpdated(ctx context.Context, post social.PostID) error {
	if err := s.postExists(ctx, post); err != nil {
		return err
	}
	return social.ErrConflict
}

func (s *Store) postExists(ctx context.Context, post social.PostID) error {
	return mdb.OrNotFound(s.posts.FindOne(ctx, mdb.Doc("_id", post), options.FindOne().SetProjection(mdb.Doc("_id", 1))).Err())
}

// Histories implements social.Posts.
func (s *Store) Histories(ctx context.Context, posts []social.PostID) (map[social.PostID][]social.Version, error) {
	all := make(map[social.PostID][]social.Version)
	oldestFirst := options.Find().SetHint(byPostNumber).SetSort(mdb.Doc("post", 1, "number", 1))
	err := s.db.Read(ctx, "histories", func(ctx context.Context) error {
		for batch := range slices.Chunk(posts, mdb.InBatch) {
			few := mdb.Doc("post", mdb.Doc("$in", mdb.Values(batch)))
			docs, err := mdb.FindAll[versionDoc](ctx, s.versions, few, len(batch)*social.MaxEdits, oldestFirst)
			if err != nil {
				return err
			}
			for i := range docs {
				if i == 0 || docs[i-1].Post != docs[i].Post {
					all[docs[i].Post] = nil // an earlier batch may have had it too
				}
				all[docs[i].Post] = append(all[docs[i].Post], docs[i].version())
			}
		}
		return nil
	})
	return all, err
}

// DeletePost implements social.Posts.
func (s *Store) DeletePost(ctx context.Context, post social.PostID, e social.Event) error {
	return s.db.Write(ctx, "delete post", []id.ID{post.ID}, func(ctx context.Context) error { return s.deletePost(ctx, post, e) })
}

// deletePost is DeletePost in a transaction.
func (s *Store) deletePost(ctx context.Context, post social.PostID, e social.Event) error {
	d, err := s.takePost(ctx, post)
	if err != nil {
		return err
	}
	e.Author, e.Audience = d.Author, social.Audience(d.Audience)
	return s.log.Append(ctx, e)
}

// takePost removes a post and what belongs to it, in a transaction, and returns who saw it.
func (s *Store) takePost(ctx context.Context, post social.PostID) (d postDoc, err error) {
	what := options.FindOneAndDelete().SetProjection(mdb.Doc("author", 1, "wallOwner", 1, "audience", 1, "detail.closesAt", 1))
	if err := mdb.OrNotFound(s.posts.FindOneAndDelete(ctx, mdb.Doc("_id", post), what).Decode(&d)); err != nil {
		return d, err
	}
	if !d.Detail.ClosesAt.IsZero() {
		if _, err := s.openPolls.DeleteOne(ctx, mdb.Doc("_id", post)); err != nil {
			return d, err
		}
	}
	if err := s.deleteWithPost(ctx, post); err != nil {
		return d, err
	}
	return d, s.feeds.PostDeleted(ctx, post, d.Author, d.WallOwner)
}

// deleteWithPost removes what belongs to a post.
func (s *Store) deleteWithPost(ctx context.Context, post social.PostID) error {
	if err := s.threads.RemoveThread(ctx, post); err != nil {
		return err
	}
	if _, err := s.versions.DeleteMany(ctx, mdb.Doc("post", post), options.DeleteMany().SetHint(byPostNumber)); err != nil {
		return err
	}
	for _, c := range []*mongo.Collection{s.reactions, s.votes, s.threadMutes} {
		if _, err := c.DeleteMany(ctx, mdb.Doc("_id", mdb.PairRange(post.ID))); err != nil {
			return err
		}
	}
	return nil
}

// Posts implements social.Posts. Requests for the same post at the same time share a read: on a
// popular post, each page of the thread, each comment and each reaction begins with it.
func (s *Store) Posts(ctx context.Context, ids []social.PostID) (posts map[social.PostID]*social.Post, err error) {
	if len(ids) != 1 {
		return s.readPosts(ctx, ids)
	}
	err = s.db.Within(ctx, "posts", func(ctx context.Context) error {
		post, err := s.singlePosts.Read(ctx, ids[0])
		posts = map[social.PostID]*social.Post{}
		if post != nil {
			posts[ids[0]] = post
		}
		return err
	})
	return posts, err
}

// PublicAuthors implements social.Posts.
func (s *Store) PublicAuthors(ctx context.Context, newest int) ([]social.UserID, error) {
	var authors []social.UserID
	err := s.db.Read(ctx, "public authors", func(ctx context.Context) error {
		posts, err := mdb.FindAll[postDoc](ctx, s.posts, mdb.Doc("_id", mdb.Doc("$gt", mdb.ZeroKey)), newest, options.Find().
			SetSort(mdb.Doc("_id", -1)).SetLimit(int64(newest)).SetProjection(mdb.Doc("author", 1, "audience", 1)).SetHint(mdb.Doc("_id", 1)))
		public := slices.DeleteFunc(posts, func(d postDoc) bool { return d.Audience.Kind != social.AudiencePublic })
		authors = batch.Unique(mdb.Map(public, func(d *postDoc) social.UserID { return d.Author }))
		return err
	})
	return authors, err
}

func (s *Store) readPost(ctx context.Context, post social.PostID) (*social.Post, error) {
	posts, err := s.readPosts(ctx, []social.PostID{post})
	return posts[post], err
}

func (s *Store) readPosts(ctx context.Context, ids []social.PostID) (map[social.PostID]*social.Post, error) {
	all := make(map[social.PostID]*social.Post, len(ids))
	err := s.db.Read(ctx, "posts", func(ctx context.Context) error {
		docs, err := mdb.FindIn[postDoc](ctx, s.posts, "_id", ids)
		for i := range docs {
			all[docs[i].ID] = docs[i].post()
		}
		return err
	})
	return all, err
}
