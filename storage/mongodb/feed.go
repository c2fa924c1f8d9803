package mongodb

import (
	"context"

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
