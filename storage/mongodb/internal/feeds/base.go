package feeds

import (
	"context"
	"sync/atomic"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/id"
	"plaza/social"
	"plaza/storage/mongodb/internal/jobs"
	"plaza/storage/mongodb/internal/mdb"
	"plaza/storage/mongodb/internal/recent"
)

// Config is what feeds need from the rest of the engine.
type Config struct {
	Database *mongo.Database // for the collections of feeds
	DB       *mdb.DB
	Posts    Posts
	Follows  Follows
	Changes  social.ChangeLog
	Jobs     *jobs.Queue
	// MergeAbove is the number of followers above which an author is merged at read, in the layout
	// hybrid. Default: 10,000.
	MergeAbove int
	// InUse returns what a call uses.
	InUse func(context.Context) *InUse
}

// Posts reads posts. Feeds know only the fields _id, seq, author, wallOwner, inbox and changes of a
// post's document.
type Posts interface {
	// Collection returns the collection of posts, with the indexes ByAuthor, ByWall and ByInbox.
	Collection() *mongo.Collection
	// Sequence reads how far the ids of posts have come.
	Sequence(ctx context.Context) (recent.Sequence, error)
	// ByID reads posts, in no order. Those that are missing are left out.
	ByID(ctx context.Context, ids []social.PostID) ([]*social.Post, error)
	// List reads a list of posts.
	List(ctx context.Context, q mdb.ListQuery) ([]*social.Post, error)
	// Pages reads one page of each of the lists.
	Pages(ctx context.Context, lists []social.List[social.UserID], query func(social.List[social.UserID]) mdb.ListQuery) (map[social.List[social.UserID]][]*social.Post, error)
	// Decode reads a document of any version.
	Decode(raw []byte) (*social.Post, error)
}

// Follows reads the follower graph.
type Follows interface {
	// Followed reads all users that a user follows.
	Followed(ctx context.Context, user social.UserID) ([]social.UserID, error)
	// Among returns which of the users follow which of the people.
	Among(ctx context.Context, users, people []social.UserID) (map[social.Pair]bool, error)
	// Followers reads the followers of an author whose follows are within bounds, newest first, at
	// most a number of them, and the follow of the last.
	Followers(ctx context.Context, author social.UserID, bounds bson.D, most int) (users []social.UserID, last social.EdgeID, err error)
	// FollowedByEach is Followed for several users, with one command, outside of the snapshot of ctx,
	// and at least as new as the changes that were read before. It leaves out users whose lists have
	// not all been read, because together they have more than a number of entries.
	FollowedByEach(ctx context.Context, users []social.UserID, most int) (map[social.UserID][]social.UserID, error)
	// NotFollowing returns those of the users who do not follow the author, and are not the author.
	NotFollowing(ctx context.Context, author social.UserID, users []social.UserID) ([]social.UserID, error)
	// FollowersCount reads how many followers a user has. ErrNotFound.
	FollowersCount(ctx context.Context, user social.UserID) (int, error)
	// Exists returns ErrNotFound for a user who has deleted their account.
	Exists(ctx context.Context, user social.UserID) error
}

// The indexes of posts that queries name as hints.
const (
	ByAuthor = "author_seq"
	ByWall   = "wallOwner_seq"
	ByInbox  = "inbox_seq"
)

// base is what all layouts have.
type base struct {
	db         *mdb.DB
	posts      Posts
	follows    Follows
	jobs       *jobs.Queue
	mergeAbove int
	recent     *recent.Posts
	authors    *newsAuthors
	pages      *pageCounts
	pauses     *pauses
	floors     *pendingFloors

	newsCache     *mongo.Collection
	newsLists     *mongo.Collection
	mergedAuthors *mongo.Collection
	newsBuckets   *mongo.Collection
	monthNews     *mongo.Collection
	monthWalls    *mongo.Collection
}

// Documents of readers are kept for a while after the last read, which is recorded once a day.
const (
	listLife = 30 * 24 * time.Hour
	listUse  = 24 * time.Hour
)

// pageCounts counts pages of news that were read from posts and follows.
type pageCounts struct {
	all   atomic.Int64
	older atomic.Int64 // merged in the database, at least in part
}

// defaultMergeAbove: pushing a post costs about as much as it saves a few readers, and most of so
// many followers do not read it.
const defaultMergeAbove = 10_000

func newBase(c Config) *base {
	e := &base{
		db: c.DB, posts: c.Posts, follows: c.Follows, jobs: c.Jobs, mergeAbove: c.MergeAbove,
		authors: newNewsAuthors(c.Follows, c.Changes),
		recent:  recent.New(c.Posts, recent.DefaultStep, recent.DefaultMost), pages: new(pageCounts), pauses: newPauses(pauseLength),
		floors:    newPendingFloors(),
		newsCache: c.Database.Collection("newsCache"),
		newsLists: c.Database.Collection("newsLists"), mergedAuthors: c.Database.Collection("mergedAuthors"),
		newsBuckets: c.Database.Collection("newsBuckets"),
		monthNews:   c.Database.Collection("monthNews"), monthWalls: c.Database.Collection("monthWalls"),
	}
	if e.mergeAbove <= 0 {
		e.mergeAbove = defaultMergeAbove
	}
	return e
}

// changeEach changes a document of each user, which it creates if it is missing.
func changeEach(ctx context.Context, c *mongo.Collection, users []social.UserID, change func(social.UserID) (document, update bson.D)) error {
	if len(users) == 0 {
		return nil
	}
	_, err := c.BulkWrite(ctx, mdb.Map(users, func(user *social.UserID) mongo.WriteModel {
		document, update := change(*user)
		return mongo.NewUpdateOneModel().SetFilter(document).SetUpsert(true).SetUpdate(update)
	}), options.BulkWrite().SetOrdered(false))
	return mdb.OrRetry(err)
}

// emptied returns the change that removes fields of a user's document, which the next reader makes
// again. The new stamp changes the document in any case, so that it conflicts with a reader who
// makes it at the same time.
func emptied(fields ...string) func(social.UserID) (document, update bson.D) {
	var unset bson.D
	for _, field := range fields {
		unset = append(unset, bson.E{Key: field, Value: 1})
	}
	return func(user social.UserID) (document, update bson.D) {
		set := mdb.Doc("v", mdb.FirstVersion, "stamp", stamp{id.New()}, "usedAt", time.Now())
		return mdb.Doc("_id", user), mdb.Doc("$set", set, "$unset", unset)
	}
}
