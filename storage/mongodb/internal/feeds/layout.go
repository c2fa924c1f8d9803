package feeds

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/mongo"

	"plaza/social"
	"plaza/storage/mongodb/internal/jobs"
)

// Layout is one way to keep news and walls. All layouts give the same answers. During a migration,
// two are in use.
type Layout interface {
	// News implements social.Feeds.News, and Walls implements Wall.
	News(ctx context.Context, viewer social.UserID, p social.Page) ([]*social.Post, error)
	Walls(ctx context.Context, lists []social.List[social.UserID]) (map[social.List[social.UserID]][]*social.Post, error)

	// The next five take part in the transactions of writes. What they leave for later they add as
	// jobs.

	// PostsAdded is called with new posts.
	PostsAdded(ctx context.Context, posts []*social.Post) error
	// PostsChanged is called after every change of posts that an answer shows: their content,
	// audience, comments and counts.
	PostsChanged(ctx context.Context, posts ...social.PostID) error
	// PostDeleted is called after a post was deleted.
	PostDeleted(ctx context.Context, post social.PostID, author, wallOwner social.UserID) error
	// PostMoved is called after a post was moved to another wall.
	PostMoved(ctx context.Context, post social.PostID) error
	// FollowsChanged is called with the users who begin or end follows.
	FollowsChanged(ctx context.Context, owners ...social.UserID) error

	// JobKinds returns the kinds of jobs that only this layout adds.
	JobKinds() []jobs.Kind
	// Do makes an attempt at one of its jobs. ctx ends before the job's lease does.
	Do(ctx context.Context, j *jobs.Job) error
	// Collections returns those that only this layout has.
	Collections() []*mongo.Collection
	// Indexes returns those that this layout needs on collections that all layouts have.
	Indexes() map[*mongo.Collection][]mongo.IndexModel
	// Build builds a user's feeds again, if the layout keeps feeds for all users: servers that did
	// not keep the layout yet may have left something out. It is safe to repeat, and to run while
	// users post and follow.
	Build(ctx context.Context, user social.UserID) error
	// Forget removes everything that is kept for a user who has deleted their account.
	Forget(ctx context.Context, user social.UserID) error
}
