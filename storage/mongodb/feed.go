package mongodb

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"

	"plaza/social"
	"plaza/storage/mongodb/internal/feeds"
)

// The layouts of feeds, for Options.Feeds; see [Layouts].
const (
	FeedsRead   = feeds.Read   // keeps no feeds: reads merge the posts of all followed authors
	FeedsCache  = feeds.Cache  // keeps whose posts are in the news of each user who reads them
	FeedsHybrid = feeds.Hybrid // keeps a capped list of post ids for each user who reads their news
	FeedsBucket = feeds.Bucket // keeps the newest posts of all users as ids, in buckets
	FeedsMonth  = feeds.Month  // keeps copies of the newest posts in all news and on all walls, by month
)

// feedLayouts make the layouts of feeds.
var feedLayouts = feeds.Layouts()

// Wall implements social.Feeds in the way of the layout in use.
func (s *Store) Wall(ctx context.Context, lists []social.List[social.UserID]) (walls map[social.List[social.UserID]][]*social.Post, err error) {
	err = s.db.ReadSnapshot(ctx, "wall", func(ctx context.Context) error {
		walls, err = s.feeds.Walls(ctx, lists)
		return err
	})
	return walls, err
}

// PostsBy implements social.Feeds. All layouts share it.
func (s *Store) PostsBy(ctx context.Context, lists []social.List[social.UserID]) (posts map[social.List[social.UserID]][]*social.Post, err error) {
	err = s.db.ReadSnapshot(ctx, "posts by", func(ctx context.Context) error {
		posts, err = s.feeds.PostsBy(ctx, lists)
		return err
	})
	return posts, err
}

// News implements social.Feeds in the way of the layout in use.
func (s *Store) News(ctx context.Context, viewer social.UserID, p social.Page) ([]*social.Post, error) {
	return s.feeds.News(ctx, viewer, p)
}

// NewsPages implements storage.NewsCounter.
func (s *Store) NewsPages() (recent, older int64) { return s.feeds.NewsPages() }

// Incoming implements social.Feeds. It reads the circles that the viewer is in, and then the newest
// posts whose inbox contains one of these or the viewer's wall. Its cost grows with the number of
// the viewer's followers, as that of News grows with the number of followed users.
func (s *Store) Incoming(ctx context.Context, viewer social.UserID, p social.Page) (posts []*social.Post, err error) {
	err = s.db.ReadSnapshot(ctx, "incoming", func(ctx context.Context) error {
		keys, err := s.inboxKeys(ctx, viewer)
		if err != nil {
			return err
		}
		posts, err = s.feeds.Incoming(ctx, keys, p)
		return err
	})
	return posts, err
}

// inboxKeys returns the keys in the inbox of posts that are for the viewer.
func (s *Store) inboxKeys(ctx context.Context, viewer social.UserID) ([]bson.Binary, error) {
	docs, err := s.graph.Follows().All(ctx, viewer)
	keys := []bson.Binary{inboxKey('w', viewer.ID)}
	for i := range docs {
		keys = append(keys, inboxKey('a', docs[i].Owner.ID))
		for _, circle := range docs[i].Circles() {
			keys = append(keys, inboxKey('c', circle.ID))
		}
	}
	return keys, err
}
