package social

import (
	"context"
	"time"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"plaza/fault"
	"plaza/id"
)

// Circle is one owner's named set of other users. Only its owner ever sees it.
type Circle struct {
	ID           CircleID
	Owner        UserID
	Name         string // unique among the owner's circles by its NameKey
	IsDefault    bool   // the built-in circle "Following"
	MembersCount int
}

// NewBuiltInCircle returns the built-in circle of a new user. It has the user's own id, so that an
// engine need not store which circle a follow is in if it is in this one alone. Users of earlier
// versions have built-in circles with other ids.
func NewBuiltInCircle(user UserID) Circle {
	return Circle{ID: BuiltInCircleID(user), Owner: user, Name: DefaultCircleName, IsDefault: true}
}

// BuiltInCircleID returns the id that NewBuiltInCircle gives.
func BuiltInCircleID(user UserID) CircleID { return CircleID(user) }

// CreatedAt is when the circle was created.
func (c *Circle) CreatedAt() time.Time { return c.ID.Time() }

// NameKey is equal for names that one owner can't give to two circles: those that differ only in
// case or in how their accents are encoded (Unicode's full case folding of normalization form C).
// Engines store it beside the name.
func NameKey(name string) string { return norm.NFC.String(cases.Fold().String(norm.NFC.String(name))) }

// Membership puts Member into Owner's circle.
type Membership struct {
	Circle CircleID
	Owner  UserID
	Member UserID
}

// Circles stores circles and their members. A follows B while B is in at least one of A's circles,
// so these calls begin and end follows: they keep User.FollowersCount, User.FollowingCount and
// Circle.MembersCount exact in the same transaction, under concurrent writes.
type Circles interface {
	// InsertCircle stores the circle and the event. A circle without an id gets one, and so does
	// e.Circle: the id holds the time when the circle was stored, by the database's clock, and is
	// greater than those of the owner's other circles. ErrTaken: the owner has a circle with that
	// NameKey. ErrLimitReached: the owner already has maximum circles.
	InsertCircle(ctx context.Context, c *Circle, maximum int, e Event) error
	// RenameCircle: ErrNotFound, ErrTaken.
	RenameCircle(ctx context.Context, id CircleID, name string, e Event) error
	// DeleteCircle removes the circle, its memberships, and the follows that depended on it alone.
	// It may remove those of a large circle in several transactions, each with an event like e: after
	// an error, the circle may have fewer members, and a repeated call removes the others.
	// ErrNotFound.
	DeleteCircle(ctx context.Context, id CircleID, e Event) error
	// Circles reads by id; absent circles are missing in the map.
	Circles(ctx context.Context, ids []CircleID) (map[CircleID]*Circle, error)
	// CirclesOf lists an owner's circles, oldest first; the built-in one is usually the first. Keys
	// are circle ids: a client that pages forward gets every circle that is added.
	CirclesOf(ctx context.Context, owner UserID, p Page) ([]*Circle, error)
	// Members lists the memberships of each circle (Edge.From is its owner, Edge.To the member), in
	// the order in which members were added. Edge.ID is the id that AddToCircle was given, or gave.
	// Keys are edge ids: a client that pages forward gets everyone who is added.
	Members(ctx context.Context, lists []List[CircleID]) (map[List[CircleID]][]Edge, error)

	// AddToCircle adds the member to the circle with the id edge, and begins a follow with the same
	// id if there is none, with a second event (NewFollowed); a zero edge gets an id (see Graph),
	// which is greater than those of the owner's other memberships. If the member is already in the
	// circle, it does nothing (added is false, no event). ErrNotFound: the owner has no such
	// circle, or there is no such member. ErrBlocked: either has blocked the other; a concurrent
	// block leaves either no follow or no success.
	AddToCircle(ctx context.Context, m Membership, edge EdgeID, e Event) (added bool, err error)
	// RemoveFromCircle removes the member, and ends the follow if that was the last circle. If the
	// member is not in the circle, it does nothing (removed is false, no event).
	RemoveFromCircle(ctx context.Context, m Membership, e Event) (removed bool, err error)
	// Unfollow removes the member from all of the owner's circles. Without a follow it does
	// nothing.
	Unfollow(ctx context.Context, owner, member UserID, e Event) (unfollowed bool, err error)
}

// NewFollowed returns the event of a follow that began with a membership. It does not name the
// circle, which is private.
func NewFollowed(m Membership) Event {
	return Event{ID: EventID{id.New()}, Kind: EventFollowed, Actor: m.Owner, Target: m.Member}
}

// CheckCircleName validates a circle's name. Errors: BLANK, TOO_LONG, INVALID.
func CheckCircleName(name string) error { return fault.CheckLine("name", name, 1, MaxCircleNameLen) }
