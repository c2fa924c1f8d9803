package social

import "context"

// Edge is one entry of a list of follows, blocks or mutes: From does it to To. Its key is ID.
type Edge struct {
	ID   EdgeID
	From UserID
	To   UserID
}

// Pair is a viewer (zero: nobody is signed in) and somebody else.
type Pair struct {
	Viewer, Other UserID
}

// Relation is all that rules know of how a viewer and another user stand to each other. The zero value
// is that of strangers.
type Relation struct {
	Follows   bool       // the viewer follows the other
	Mutes     bool       // the viewer mutes the other
	Blocks    bool       // the viewer blocks the other
	BlockedBy bool       // the other blocks the viewer
	Gone      bool       // the other has deleted their account, or the viewer has
	Circles   []CircleID // the other's circles that hold the viewer, in no order
}

// Person is a user, and how a viewer stands to them.
type Person struct {
	User     *User // nil: there is no such user
	Relation Relation
}

// Graph reads who follows, blocks and mutes whom, and stores blocks and mutes. Lists have the newest edge
// first; their keys are edge ids.
//
// A follow, block or mute that is stored without an id gets one, which says when that was by the database's clock. In each list it is greater
// than those that were committed before: the order of a list is the order of commits, whatever the clocks of servers say. One with an id
// keeps it: that is for what is given a past (the demo, imports).
type Graph interface {
	// Relations reads one relation for each pair; strangers may be missing in the map. For a viewer who is nobody that is Gone alone.
	Relations(ctx context.Context, pairs []Pair) (map[Pair]Relation, error)
	// People reads what Users and Relations say of each of the users and the viewer, at once. Who is neither a user nor stands in any relation to
	// the viewer may be missing in the map.
	People(ctx context.Context, viewer UserID, ids []UserID) (map[UserID]Person, error)
	// Followers lists the follows of which List.Of is the To.
	Followers(ctx context.Context, lists []List[UserID]) (map[List[UserID]][]Edge, error)
	// Following lists the follows of which List.Of is the From.
	Following(ctx context.Context, lists []List[UserID]) (map[List[UserID]][]Edge, error)
	// Blocked lists whom the user blocks.
	Blocked(ctx context.Context, from UserID, p Page) ([]Edge, error)
	// Muted lists whom the user mutes.
	Muted(ctx context.Context, from UserID, p Page) ([]Edge, error)

	// Block stores the block, and ends the follows between the two in both directions, with all counts, in one
	// transaction. It does nothing (false, no event) where the block exists. ErrNotFound: no such user.
	Block(ctx context.Context, block Edge, e Event) (bool, error)
	// Unblock removes the block; the follows do not come back. False: there was none.
	Unblock(ctx context.Context, from, to UserID, e Event) (bool, error)
	// Mute stores the mute. False: it existed. ErrNotFound: no such user.
	Mute(ctx context.Context, mute Edge, e Event) (bool, error)
	// Unmute removes the mute. False: there was none.
	Unmute(ctx context.Context, from, to UserID, e Event) (bool, error)
}
