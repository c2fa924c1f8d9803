package graph

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/mongo"

	"plaza/storage/mongodb/internal/mdb"
)

// The names of the layouts.
const (
	// Reverse keeps each edge once, by its owner; an index leads back from the followed.
	Reverse = "reverse"
	// Two keeps follows a second time, by the followed: on a sharded cluster a user's followers lie
	// together.
	Two = "two"
)

// Layout is one layout of the follower graph: where a user's followers lie. Edges lie with their
// owners in all of them.
type Layout interface {
	// Indexes are those that lead to followers.
	Indexes() map[*mongo.Collection][]mongo.IndexModel
	// Followers holds [Document]s with owner, other, follow and circles, indexed byFollowed.
	Followers() *mongo.Collection
	// FollowsChanged takes edges whose follow or circles have changed, as they are now. It takes
	// part in the transactions of writes.
	FollowsChanged(ctx context.Context, edges ...Document) error
	// Filling is this layout for as long as a migration fills it.
	Filling() Layout
	// Remove takes away what only this layout needs. No server uses it.
	Remove(ctx context.Context) error
}

// followedKeys find a user's followers, newest first, and cover what a page of them shows.
var followedKeys = mdb.Doc("other", 1, "follow", -1, "owner", 1)
