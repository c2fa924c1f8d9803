package mongodb

import (
	"context"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"plaza/social"
	"plaza/storage/mongodb/internal/jobs"
	"plaza/storage/mongodb/internal/mdb"
)

const (
	// mergeWidth is how many values one $in has: the server merges the index ranges of up to 199 of them in the
	// index's order, and beyond that it reads them all and sorts.
	mergeWidth = 190
	// mergesInBatch is how many such merges go into one command.
	mergesInBatch = 30
	// mergeAttempts bounds how often a page is read again because posts went while it was read.
	mergeAttempts = 3
	// listedIDs is how many ids a first answer may hold: 16 MB of about 40 bytes each, rounded down.
	listedIDs = 100_000
)

// postList lists posts by the indexed field, newest first.
func postList(field string, value any, hint string) mdb.ListQuery {
	return mdb.ListQuery{Filter: mdb.Doc(field, value), Key: "seq", Value: mdb.IDKey, Desc: true, Hint: hint}
}

// readFeeds is the layout that keeps no feeds.
type readFeeds struct{ *Store }

// news reads whom the viewer follows, and then the newest posts by them. That is two commands for up to 189 followed
// people, three up to about 5,700, and one more for each further 5,700.
func (f readFeeds) news(ctx context.Context, viewer social.UserID, p social.Page) ([]*social.Post, error) {
	authors, err := f.followed(ctx, viewer)
	if err != nil {
		return nil, err
	}
	return mergePosts(ctx, f.Store, "author", append(authors, viewer), byAuthor, p)
}

// walls are ranges of one index.
func (f readFeeds) walls(ctx context.Context, lists []social.List[social.UserID]) (map[social.List[social.UserID]][]*social.Post, error) {
	query := func(list social.List[social.UserID]) mdb.ListQuery { return postList("wallOwner", list.Of, byWall) }
	return mdb.Pages(ctx, f.posts, lists, query, (*postDoc).post)
}

func (readFeeds) postsAdded(context.Context, []*social.Post) error       { return nil }
func (readFeeds) postChanged(context.Context, social.PostID) error       { return nil }
func (readFeeds) followsChanged(context.Context, ...social.UserID) error { return nil }
func (readFeeds) postStored(context.Context, *social.Post)               {}
func (readFeeds) collections() []*mongo.Collection                       { return nil }
func (readFeeds) indexes() map[*mongo.Collection][]mongo.IndexModel      { return nil }
func (readFeeds) build(context.Context, social.UserID) error             { return nil }
func (readFeeds) postDeleted(context.Context, social.PostID, social.UserID, social.UserID) error {
	return nil
}

func (readFeeds) postMoved(context.Context, social.PostID) error { return nil }
func (readFeeds) forget(context.Context, social.UserID) error    { return nil }

func (readFeeds) jobKinds() []jobs.Kind { return nil }

// do refuses: this layout leaves nothing for later.
func (readFeeds) do(_ context.Context, j *jobs.Job) error { return jobs.Unknown(j) }

// otherDoc is whom an edge leads to, read from an index.
type otherDoc struct {
	Other social.UserID `bson:"other"`
}

func (d *otherDoc) SetField(r *mdb.Reader, field []byte, v bsoncore.Value) {
	if string(field) == "other" {
		r.ID(v, &d.Other.ID)
	}
}

// followed reads the ids of all whom the viewer follows, from the index alone.
func (s *Store) followed(ctx context.Context, viewer social.UserID) ([]social.UserID, error) {
	filter := mdb.Doc("owner", viewer, "follow", mdb.Doc("$gt", mdb.ZeroKey))
	docs, err := mdb.FindAll[otherDoc](ctx, s.edges, filter, listedIDs,
		options.Find().SetProjection(mdb.Doc("_id", 0, "other", 1)).SetHint(byFollower))
	return mdb.Map(docs, func(d *otherDoc) social.UserID { return d.Other }), err
}

// mergePosts reads the page of all posts that have one of the values. Up to mergeWidth values it is one find; beyond,
// the ids are merged first, chunk by chunk, so that no post is read that is not on the page.
func mergePosts[V any](ctx context.Context, s *Store, field string, values []V, hint string, p social.Page) ([]*social.Post, error) {
	if len(values) <= mergeWidth {
		q := postList(field, mdb.Doc("$in", mdb.Values(values)), hint)
		q.Page = p
		docs, err := mdb.ReadList[postDoc](ctx, s.posts, q)
		return mdb.Map(docs, (*postDoc).post), err
	}
	for attempt := 1; ; attempt++ {
		ids, err := mergeIDs(ctx, s, field, values, p)
		if err != nil {
			return nil, err
		}
		posts, err := s.postsInOrder(ctx, ids)
		if err != nil || len(posts) == len(ids) || attempt == mergeAttempts {
			return posts, err
		}
	}
}

// seqDoc is a post's id, read from an index.
type seqDoc struct {
	Seq social.PostID `bson:"seq"`
}

func (d *seqDoc) SetField(r *mdb.Reader, field []byte, v bsoncore.Value) {
	if string(field) == "seq" {
		r.ID(v, &d.Seq.ID)
	}
}

// mergeIDs merges the chunks' first ids, in list order.
func mergeIDs[V any](ctx context.Context, s *Store, field string, values []V, p social.Page) ([]social.PostID, error) {
	var ids []social.PostID
	chunks := slices.Collect(slices.Chunk(values, mergeWidth))
	for batch := range slices.Chunk(chunks, mergesInBatch) {
		pipelines := make([]bson.A, len(batch))
		for i, chunk := range batch {
			q := postList(field, mdb.Doc("$in", mdb.Values(chunk)), "")
			q.Page = p
			pipelines[i] = bson.A{
				mdb.Doc("$match", q.Match()), mdb.Doc("$sort", q.Sort()), mdb.Doc("$limit", p.Limit),
				mdb.Doc("$project", mdb.Doc("_id", 0, "seq", 1)),
			}
		}
		docs, err := mdb.AggregateAll[seqDoc](ctx, s.posts, mdb.Union(s.posts, pipelines), len(batch)*p.Limit)
		if err != nil {
			return nil, err
		}
		ids = firstIDs(append(ids, mdb.Map(docs, func(d *seqDoc) social.PostID { return d.Seq })...), p)
	}
	return ids, nil
}

// firstIDs sorts ids as the list is, and keeps the page's.
func firstIDs(ids []social.PostID, p social.Page) []social.PostID {
	slices.SortFunc(ids, func(a, b social.PostID) int { return b.Compare(a.ID) })
	ids = slices.Compact(ids)
	if p.Last {
		return ids[max(0, len(ids)-p.Limit):]
	}
	return ids[:min(len(ids), p.Limit)]
}

// postsInOrder reads posts, newest first.
func (s *Store) postsInOrder(ctx context.Context, ids []social.PostID) ([]*social.Post, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	docs, err := mdb.FindIn[postDoc](ctx, s.posts, "_id", ids)
	posts := mdb.Map(docs, (*postDoc).post)
	slices.SortFunc(posts, newestFirst)
	return posts, err
}
