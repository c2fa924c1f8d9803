package mongodb

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/mongo"

	"plaza/social"
)

// The layouts of feeds. The choice is recorded in the database.
const (
	// FeedsRead keeps no feeds: they are merged when somebody reads.
	FeedsRead = "read"
	// FeedsHybrid keeps a capped list of post ids for everybody who reads their news now and then. Authors with very
	// many followers are merged in when somebody reads.
	FeedsHybrid = "hybrid"

	defaultFeeds = FeedsRead
)

// feeds is one way to keep news.
type feeds interface {
	// news implements social.Feeds.News.
	news(ctx context.Context, viewer social.UserID, p social.Page) ([]*social.Post, error)
	// These three take part in the transactions of writes.
	postAdded(ctx context.Context, p *social.Post) error
	postDeleted(ctx context.Context, post social.PostID, author social.UserID) error
	// followsChanged is told who begins or ends follows.
	followsChanged(ctx context.Context, owners ...social.UserID) error
	// These two are called when the transactions have committed. What they do may fail.
	postStored(ctx context.Context, p *social.Post)
	postGone()
	// do makes an attempt at a job that the layout has added. ctx ends before the job's lease does.
	do(ctx context.Context, j *jobDoc) error
	// collections are those that this layout alone has.
	collections() []*mongo.Collection
	// build makes the user's feed, where the layout keeps one also for those who don't read it, unless it is there.
	build(ctx context.Context, user social.UserID) error
}

// feedJobs says which layout adds jobs of which kind.
var feedJobs = map[jobKind]string{jobPush: FeedsHybrid, jobPull: FeedsHybrid, jobPromote: FeedsHybrid}

// feedLayouts makes each layout.
var feedLayouts = map[string]func(s *Store, o Options) feeds{
	FeedsRead:   func(s *Store, _ Options) feeds { return readFeeds{s} },
	FeedsHybrid: func(s *Store, o Options) feeds { return newHybridFeeds(s, o) },
}
