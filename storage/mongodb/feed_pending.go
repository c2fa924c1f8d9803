package mongodb

import (
	"context"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"plaza/social"
	"plaza/storage/mongodb/internal/jobs"
	"plaza/storage/mongodb/internal/mdb"
)

// A post is pushed to feeds by a job, some time after its commit. A reader who was shown a newer post meanwhile, and goes on from
// there, would miss it. So what jobs have not pushed yet is merged in when somebody reads: it is in the same snapshot as the
// lists that it is missing in, so that a post is in one of the two.

// maxPending is how many posts on their way are merged into a page. Where there are more, the page is read as in the read layout.
const maxPending = 200

// pendingPost is a post on its way, read from its job.
type pendingPost struct {
	Post   social.PostID `bson:"post"`
	Author social.UserID `bson:"author"`
	Wall   social.UserID `bson:"wall"`
}

func (p *pendingPost) SetField(r *mdb.Reader, field []byte, v bsoncore.Value) {
	switch string(field) {
	case "post":
		r.ID(v, &p.Post.ID)
	case "author":
		r.ID(v, &p.Author.ID)
	case "wall":
		r.ID(v, &p.Wall.ID)
	}
}

// pending are the posts within a page's bounds that jobs of a kind have still to push. Not ok: there are too many.
func (s *Store) pending(ctx context.Context, kind jobs.Kind, p social.Page) (posts []pendingPost, ok bool, err error) {
	bounds := mdb.Doc("$gt", mdb.ZeroKey)
	if p.Before != "" {
		bounds = mdb.Doc("$gt", mdb.IDKey(p.Before))
	}
	if p.After != "" {
		bounds = append(bounds, bson.E{Key: "$lt", Value: mdb.IDKey(p.After)})
	}
	posts, err = mdb.FindAll[pendingPost](ctx, s.jobs.Collection, mdb.Doc("kind", kind, "post", bounds), maxPending,
		options.Find().SetLimit(maxPending).SetHint(jobs.ByPost).SetProjection(mdb.Doc("_id", 0, "post", 1, "author", 1, "wall", 1)))
	return posts, len(posts) < maxPending, err
}

// pendingNews are those posts by the viewer and by people the viewer follows.
func (s *Store) pendingNews(ctx context.Context, kind jobs.Kind, viewer social.UserID, p social.Page) (ids []social.PostID, ok bool, err error) {
	posts, ok, err := s.pending(ctx, kind, p)
	if err != nil || !ok || len(posts) == 0 {
		return nil, ok, err
	}
	authors := mdb.Map(posts, func(p *pendingPost) social.UserID { return p.Author })
	followed, err := s.followedAmong(ctx, viewer, authors)
	if err != nil {
		return nil, false, err
	}
	for _, p := range posts {
		if p.Author == viewer || slices.Contains(followed, p.Author) {
			ids = append(ids, p.Post)
		}
	}
	return ids, true, nil
}

// followedAmong are those of some people that the viewer follows.
func (s *Store) followedAmong(ctx context.Context, viewer social.UserID, people []social.UserID) ([]social.UserID, error) {
	pairs := mdb.Map(people, func(other *social.UserID) social.Pair { return social.Pair{Viewer: viewer, Other: *other} })
	follows := append(edgesAmong(pairs, []social.UserID{viewer}), bson.E{Key: "follow", Value: mdb.Doc("$gt", mdb.ZeroKey)})
	docs, err := mdb.FindAll[edgeDoc](ctx, s.edges, follows, len(people),
		options.Find().SetProjection(mdb.Doc("_id", 0, "other", 1)).SetHint(mdb.Doc("_id", 1)))
	return mdb.Map(docs, func(d *edgeDoc) social.UserID { return d.Other }), err
}

// pendingOnWalls are the posts on their way to walls, by the walls' owners.
func (s *Store) pendingOnWalls(ctx context.Context, kind jobs.Kind, p social.Page) (walls map[social.UserID][]social.PostID, ok bool, err error) {
	posts, ok, err := s.pending(ctx, kind, p)
	walls = map[social.UserID][]social.PostID{}
	for _, p := range posts {
		walls[p.Wall] = append(walls[p.Wall], p.Post)
	}
	return walls, ok, err
}
