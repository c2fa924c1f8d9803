package mongodb

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/social"
	"plaza/storage/mongodb/internal/jobs"
	"plaza/storage/mongodb/internal/mdb"
)

// The layouts of feeds. The choice is recorded in the database.
const (
	// FeedsRead keeps no feeds: they are merged when somebody reads.
	FeedsRead = "read"
	// FeedsHybrid keeps a capped list of post ids for everybody who reads their news now and then. Authors with very
	// many followers are merged in when somebody reads.
	FeedsHybrid = "hybrid"
	// FeedsBucket keeps everybody's newest posts as ids, in buckets.
	FeedsBucket = "bucket"
	// FeedsMonth keeps everybody's newest posts in news, and those on everybody's wall, as copies, by the month.
	FeedsMonth = "month"
)

// feeds is one way to keep news and walls. A store may have several at the same time.
type feeds interface {
	// news implements social.Feeds.News, and walls implements Wall.
	news(ctx context.Context, viewer social.UserID, p social.Page) ([]*social.Post, error)
	walls(ctx context.Context, lists []social.List[social.UserID]) (map[social.List[social.UserID]][]*social.Post, error)
	// These five take part in the transactions of writes. What is left for later they add as jobs.
	postsAdded(ctx context.Context, posts []*social.Post) error
	// postChanged is told of every change of a post that an answer shows: its content, audience, comments and counts.
	postChanged(ctx context.Context, post social.PostID) error
	postDeleted(ctx context.Context, post social.PostID, author, wallOwner social.UserID) error
	// postMoved is told of a post that stands on another wall now.
	postMoved(ctx context.Context, post social.PostID) error
	// followsChanged is told who begins or ends follows.
	followsChanged(ctx context.Context, owners ...social.UserID) error
	// postStored is called when the transaction of postsAdded has committed. What it does may fail.
	postStored(ctx context.Context, p *social.Post)
	// jobKinds are those of the jobs that this layout alone adds, and do makes an attempt at one. ctx ends before the job's lease does.
	jobKinds() []jobs.Kind
	do(ctx context.Context, j *jobs.Job) error
	// collections are those that this layout alone has.
	collections() []*mongo.Collection
	// indexes are those that this layout needs on collections that all have.
	indexes() map[*mongo.Collection][]mongo.IndexModel
	// build makes a user's feeds anew, where the layout keeps any for everybody: what is there may lack what servers did that did not
	// keep the layout yet. To do so again changes nothing, and posts and follows may come meanwhile.
	build(ctx context.Context, user social.UserID) error
	// forget removes all that is kept for a user who has deleted their account.
	forget(ctx context.Context, user social.UserID) error
}

// feedLayouts makes each layout.
var feedLayouts = map[string]func(s *Store, o Options) feeds{
	FeedsRead:   func(s *Store, _ Options) feeds { return readFeeds{s} },
	FeedsBucket: func(s *Store, _ Options) feeds { return newBucketFeeds(s, bucketFeedSize) },
	FeedsMonth:  func(s *Store, _ Options) feeds { return newMonthFeeds(s, monthFeedSize) },
	FeedsHybrid: func(s *Store, o Options) feeds { return newHybridFeeds(s, o) },
}

// Wall implements social.Feeds, as the layout has it.
func (s *Store) Wall(ctx context.Context, lists []social.List[social.UserID]) (walls map[social.List[social.UserID]][]*social.Post, err error) {
	err = s.db.ReadSnapshot(ctx, "wall", func(ctx context.Context) error {
		walls, err = s.feeds.walls(ctx, lists)
		return err
	})
	return walls, err
}

// PostsBy implements social.Feeds: ranges of one index, in all layouts.
func (s *Store) PostsBy(ctx context.Context, lists []social.List[social.UserID]) (posts map[social.List[social.UserID]][]*social.Post, err error) {
	query := func(list social.List[social.UserID]) mdb.ListQuery { return postList("author", list.Of, byAuthor) }
	err = s.db.ReadSnapshot(ctx, "posts by", func(ctx context.Context) error {
		posts, err = mdb.Pages(ctx, s.posts, lists, query, (*postDoc).post)
		return err
	})
	return posts, err
}

// News implements social.Feeds, as the layout has it.
func (s *Store) News(ctx context.Context, viewer social.UserID, p social.Page) (posts []*social.Post, err error) {
	err = s.db.ReadSnapshot(ctx, "news", func(ctx context.Context) error {
		posts, err = s.feeds.news(ctx, viewer, p)
		return err
	})
	return posts, err
}

// Incoming implements social.Feeds: the circles that hold the viewer, and then the newest posts whose inbox names them
// or the viewer's wall. Its cost grows with the number of the viewer's followers, as that of News does with the followed.
func (s *Store) Incoming(ctx context.Context, viewer social.UserID, p social.Page) (posts []*social.Post, err error) {
	err = s.db.ReadSnapshot(ctx, "incoming", func(ctx context.Context) error {
		keys, err := s.inboxKeys(ctx, viewer)
		if err != nil {
			return err
		}
		posts, err = mergePosts(ctx, s, "inbox", keys, byInbox, p)
		return err
	})
	return posts, err
}

// inboxKeys are what the inbox of a post names when it is for the viewer.
func (s *Store) inboxKeys(ctx context.Context, viewer social.UserID) ([]bson.Binary, error) {
	filter := mdb.Doc("other", viewer, "follow", mdb.Doc("$gt", mdb.ZeroKey))
	docs, err := mdb.FindAll[edgeDoc](ctx, s.graph.followers(ctx), filter, listedIDs,
		options.Find().SetProjection(mdb.Doc("_id", 0, "owner", 1, "circles", 1)).SetHint(byFollowed))
	keys := []bson.Binary{inboxKey('w', viewer.ID)}
	for i := range docs {
		keys = append(keys, inboxKey('a', docs[i].Owner.ID))
		for _, circle := range docs[i].Circles {
			keys = append(keys, inboxKey('c', circle.ID))
		}
	}
	return keys, err
}

// pushJobs are jobs that push new posts.
func pushJobs(kind jobs.Kind, posts []*social.Post) []jobs.Job {
	return mdb.Map(posts, func(p **social.Post) jobs.Job {
		return jobs.Job{Kind: kind, Author: (*p).Author, Post: (*p).ID, Wall: (*p).WallOwner}
	})
}
