package social

import (
	"context"

	"plaza/id"
)

// Edge is one follow, block or mute, by From, of To. Its list key is ID.
type Edge struct {
	ID   EdgeID
	From UserID
	To   UserID
}

// Pair is a viewer (zero: signed out) and another user.
type Pair struct {
	Viewer, Other UserID
}

// Relation is everything that the rules need to know about a viewer and another user. Strangers
// have the zero value.
type Relation struct {
	Follows   bool       // the viewer follows the other
	Mutes     bool       // the viewer mutes the other
	Blocks    bool       // the viewer blocks the other
	BlockedBy bool       // the other blocks the viewer
	Gone      bool       // the other has deleted their account, or the viewer has
	Away      bool       // the other's account is away (see Standings), or the viewer's is
	Circles   []CircleID // the other's circles that contain the viewer, in no order
}

// Person is a user, and the viewer's relation to them.
type Person struct {
	User     *User // nil: there is no such user
	Relation Relation
}

// MissingUser is an id that no user has: reading the relation to it makes a missing object take as
// long as a hidden one.
var MissingUser = UserID{id.ID{15: 1}}

// Graph reads follows, blocks and mutes, and stores blocks and mutes. Lists have the newest edge
// first; their keys are edge ids.
//
// A follow, block or mute that is stored without an id gets one, which contains the time by the
// database's clock. In each list it is greater than those that were committed before: the order of
// a list is the order of commits, whatever the clocks of servers say. One with an id keeps it, so
// that the demo and imports can create data in the past.
type Graph interface {
	// Relations reads one relation for each pair; strangers may be missing in the map. For a
	// signed-out viewer it reads only Gone and Away.
	Relations(ctx context.Context, pairs []Pair) (map[Pair]Relation, error)
	// People combines Users and Relations for each of the users and the viewer, in one read. Ids
	// that neither belong to a user nor have a relation to the viewer may be missing in the map.
	People(ctx context.Context, viewer UserID, ids []UserID) (map[UserID]Person, error)
	// Followers lists the follows whose To is List.Of.
	Followers(ctx context.Context, lists []List[UserID]) (map[List[UserID]][]Edge, error)
	// Following lists the follows whose From is List.Of.
	Following(ctx context.Context, lists []List[UserID]) (map[List[UserID]][]Edge, error)
	// Blocked lists the user's blocks.
	Blocked(ctx context.Context, from UserID, p Page) ([]Edge, error)
	// Muted lists the user's mutes.
	Muted(ctx context.Context, from UserID, p Page) ([]Edge, error)

	// Block stores the block, and ends the follows between the two in both directions, with all
	// counts, in one transaction. If the block exists, it does nothing (false, no event).
	// ErrNotFound: no such user.
	Block(ctx context.Context, block Edge, e Event) (bool, error)
	// Unblock removes the block; follows are not restored. False: there was none.
	Unblock(ctx context.Context, from, to UserID, e Event) (bool, error)
	// Mute stores the mute. False: it existed. ErrNotFound: no such user.
	Mute(ctx context.Context, mute Edge, e Event) (bool, error)
	// Unmute removes the mute. False: there was none.
	Unmute(ctx context.Context, from, to UserID, e Event) (bool, error)
}
