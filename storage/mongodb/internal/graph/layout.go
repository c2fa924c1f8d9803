package graph

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/mongo"

	"plaza/storage/mongodb/internal/mdb"
)

// The names of the layouts.
const (
	// Reverse keeps each edge once, by its owner. An index finds the followers of a user.
	Reverse = "reverse"
	// Two keeps a second copy of follows by the followed user, so that one shard has all followers
	// of a user.
	Two = "two"
)

// Layout is one layout of the follower graph: it determines where a user's followers are stored.
// All layouts store edges by their owners.
type Layout interface {
	// Indexes returns the indexes for reading followers.
	Indexes() map[*mongo.Collection][]mongo.IndexModel
	// Followers returns a collection of [Document]s with owner, other, follow and circles, which
	// has the index byFollowed.
	Followers() *mongo.Collection
	// FollowsChanged is called with edges whose follow or circles have changed, in their new state,
	// as a part of the transaction that changed them.
	FollowsChanged(ctx context.Context, edges ...Document) error
	// Filling returns the variant of this layout to use while a migration fills it.
	Filling() Layout
	// Remove removes what only this layout needs. No server may use the layout.
	Remove(ctx context.Context) error
}

// followedKeys is the index that finds a user's followers, newest first, and covers the fields of a
// page of followers.
var followedKeys = mdb.Doc("other", 1, "follow", -1, "owner", 1)
