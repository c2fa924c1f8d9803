package mongodb

import (
	"context"
	"maps"
	"slices"

	"plaza/social"
)

// The layouts of feeds. The choice is recorded in the database.
const (
	// FeedsRead keeps no feeds: they are merged when somebody reads.
	FeedsRead = "read"

	defaultFeeds = FeedsRead
)

// feeds is one way to keep news.
type feeds interface {
	// news implements social.Feeds.News.
	news(ctx context.Context, viewer social.UserID, p social.Page) ([]*social.Post, error)
}

// feedLayouts makes each layout.
var feedLayouts = map[string]func(s *Store, o Options) feeds{
	FeedsRead: func(s *Store, _ Options) feeds { return readFeeds{s} },
}

func layoutNames() []string { return slices.Sorted(maps.Keys(feedLayouts)) }
