package social

import (
	"context"
	"time"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Circle is one owner's named set of other users. Only its owner ever sees it.
type Circle struct {
	ID           CircleID
	Owner        UserID
	Name         string // unique among the owner's circles by its NameKey
	IsDefault    bool   // the built-in circle "Following"
	MembersCount int
}

// CreatedAt is when the circle was made.
func (c *Circle) CreatedAt() time.Time { return c.ID.Time() }

// NameKey is equal for exactly those names that one owner cannot give to two circles: names that differ in case alone, or in
// how their accents are encoded (Unicode's full case folding of normalization form C). Engines store it beside the name.
func NameKey(name string) string { return norm.NFC.String(cases.Fold().String(norm.NFC.String(name))) }

// Membership puts Member into Owner's circle.
type Membership struct {
	Circle CircleID
	Owner  UserID
	Member UserID
}

// Circles stores circles and who is in them. B is followed by A exactly while B is in at least one of A's
// circles, so these calls begin and end follows: they keep User.FollowersCount, User.FollowingCount and
// Circle.MembersCount exact in the same transaction, whoever else writes at the same time.
type Circles interface {
	// InsertCircle stores the circle and the event. ErrTaken: the owner has one of that NameKey.
	InsertCircle(ctx context.Context, c *Circle, e Event) error
	// RenameCircle: ErrNotFound, ErrTaken.
	RenameCircle(ctx context.Context, id CircleID, name string, e Event) error
	// DeleteCircle removes the circle, its memberships, and the follows that rested on it alone. ErrNotFound.
	DeleteCircle(ctx context.Context, id CircleID, e Event) error
	// Circles reads by id; absent circles are missing in the map.
	Circles(ctx context.Context, ids []CircleID) (map[CircleID]*Circle, error)
	// CirclesOf lists an owner's circles, oldest first; the built-in one is mostly the first. Keys are circle ids.
	CirclesOf(ctx context.Context, owner UserID, p Page) ([]*Circle, error)
	// Members lists who is in each circle, by user id, ascending. Keys are user ids.
	Members(ctx context.Context, lists []List[CircleID]) (map[List[CircleID]][]UserID, error)

	// AddToCircle puts the member into the circle, and begins a follow named edge where there was none.
	// A zero edge gets an id (Graph).
	// It does nothing (added is false, no event) where the member is in the circle already. ErrNotFound: no such circle
	// of that owner, or no such member. ErrBlocked: either has blocked the other; a block that comes at the same time
	// leaves either no follow or no success.
	AddToCircle(ctx context.Context, m Membership, edge EdgeID, e Event) (added bool, err error)
	// RemoveFromCircle takes the member out, and ends the follow where that was the last circle. It does nothing
	// (removed is false, no event) where the member is not in the circle.
	RemoveFromCircle(ctx context.Context, m Membership, e Event) (removed bool, err error)
	// Unfollow takes the member out of all of the owner's circles. It does nothing where there is no follow.
	Unfollow(ctx context.Context, owner, member UserID, e Event) (unfollowed bool, err error)
}
