package mongodb

import (
	"context"
	"errors"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"plaza/batch"
	"plaza/social"
	"plaza/storage/mongodb/internal/graph"
	"plaza/storage/mongodb/internal/mdb"
)

// walkLimits say when Incoming walks through posts, and how far.
type walkLimits struct {
	followers int     // from this number on
	share     float64 // how many posts it reads for each follower before it gives up
}

// defaultWalk: a post costs a walk about as much as a follower costs the merge. So a walk that
// finds too little makes a page a third to a half more expensive, and up to twice with few thousand
// followers.
var defaultWalk = walkLimits{followers: 1000, share: 0.5}

// walkLeast is the least number of posts that a walk reads at a time.
const walkLeast = 64

// Incoming implements social.Feeds. It merges the newest posts to the circles that the viewer is in
// with those on the viewer's wall. That costs a seek for each follower, so for a viewer with many
// it first walks through the newest posts to circles and on walls (ADR 67).
func (s *Store) Incoming(ctx context.Context, viewer social.UserID, p social.Page) (posts []*social.Post, err error) {
	err = s.db.ReadSnapshot(ctx, "incoming", func(ctx context.Context) error {
		posts, err = s.readIncoming(ctx, viewer, p)
		return err
	})
	return posts, err
}

func (s *Store) readIncoming(ctx context.Context, viewer social.UserID, p social.Page) ([]*social.Post, error) {
	follows, err := s.graph.Follows().Of(ctx, viewer, s.walk.followers)
	if err != nil {
		return nil, err
	}
	if len(follows) == s.walk.followers {
		ids, isWhole, err := s.walkIncoming(ctx, viewer, p)
		if err != nil {
			return nil, err
		}
		if isWhole {
			return s.feeds.PostsInOrder(ctx, ids)
		}
		if follows, err = s.graph.Follows().Of(ctx, viewer, 0); err != nil {
			return nil, err
		}
	}
	return s.feeds.Incoming(ctx, inboxKeys(viewer, follows), p)
}

// inboxKeys returns the keys in the inbox of posts that are for the viewer.
func inboxKeys(viewer social.UserID, follows []graph.Document) []bson.Binary {
	keys := []bson.Binary{inboxKey('w', viewer.ID)}
	for i := range follows {
		keys = append(keys, inboxKey('a', follows[i].Owner.ID))
		for _, circle := range follows[i].Circles() {
			keys = append(keys, inboxKey('c', circle.ID))
		}
	}
	return keys
}

// incomingWalk looks through the newest posts to circles or walls for those to a viewer.
type incomingWalk struct {
	*Store

	viewer  social.UserID
	circles map[social.UserID][]social.CircleID // the viewer's, for each author seen; none: not followed
}

// walkIncoming returns the ids of a page, in list order. It returns false if it has not found them
// all among a number of posts that grows with the viewer's followers: then a merge is cheaper.
func (s *Store) walkIncoming(ctx context.Context, viewer social.UserID, p social.Page) (ids []social.PostID, isWhole bool, err error) {
	followers, err := s.graph.Follows().FollowersCount(ctx, viewer)
	if err != nil && !errors.Is(err, social.ErrNotFound) { // deletion may be under way
		return nil, false, err
	}
	budget := int(s.walk.share * float64(followers))
	w := incomingWalk{Store: s, viewer: viewer, circles: map[social.UserID][]social.CircleID{}}
	rest := p
	for rest.Limit = max(p.Limit, walkLeast); budget > 0; rest.Limit = min(2*rest.Limit, mdb.InBatch) {
		passed, err := mdb.ReadList[postDoc](ctx, s.posts, addressedList(rest))
		if err != nil {
			return nil, false, err
		}
		found, err := w.toViewer(ctx, passed)
		if err != nil {
			return nil, false, err
		}
		ids = mdb.Join(ids, found, p)
		if len(passed) < rest.Limit || len(ids) >= p.Limit {
			return mdb.Cut(ids, p), true, nil
		}
		rest = mdb.Behind(rest, passed, func(p *postDoc) social.Key { return social.Key(p.ID.Bytes()) })
		budget -= len(passed)
	}
	return nil, false, nil
}

// addressedList lists the posts that are in an inbox, with what a walk looks at.
func addressedList(p social.Page) mdb.ListQuery {
	return mdb.ListQuery{
		Filter: mdb.Doc("inbox", mdb.Doc("$exists", true)), Key: "seq", Value: mdb.IDKey, Desc: true, Page: p,
		Project: mdb.Doc("author", 1, "wallOwner", 1, "audience", 1), Hint: byAddressed,
	}
}

// toViewer returns those of the posts that are in the viewer's incoming.
func (w *incomingWalk) toViewer(ctx context.Context, posts []postDoc) ([]social.PostID, error) {
	if err := w.readCircles(ctx, posts); err != nil {
		return nil, err
	}
	var ids []social.PostID
	for i := range posts {
		if w.isToViewer(&posts[i]) {
			ids = append(ids, posts[i].ID)
		}
	}
	return ids, nil
}

func (w *incomingWalk) isToViewer(p *postDoc) bool {
	if p.WallOwner == w.viewer {
		return p.Author != w.viewer
	}
	circles := w.circles[p.Author]
	switch p.Audience.Kind {
	case social.AudienceCircles:
		return len(circles) > 0
	case social.AudienceListed:
		return slices.ContainsFunc(p.Audience.Circles, func(c social.CircleID) bool { return slices.Contains(circles, c) })
	case social.AudiencePublic, social.AudienceOnlyMe, social.AudienceHidden:
	}
	return false
}

// readCircles reads in which circles of the posts' authors the viewer is.
func (w *incomingWalk) readCircles(ctx context.Context, posts []postDoc) error {
	authors := batch.Unique(mdb.Map(posts, func(p *postDoc) social.UserID { return p.Author }))
	unmet := slices.DeleteFunc(authors, func(author social.UserID) bool {
		_, isMet := w.circles[author]
		return isMet
	})
	edges, err := w.graph.Follows().By(ctx, unmet, w.viewer)
	if err != nil {
		return err
	}
	for _, author := range unmet {
		w.circles[author] = nil
	}
	for i := range edges {
		w.circles[edges[i].Owner] = edges[i].Circles()
	}
	return nil
}
