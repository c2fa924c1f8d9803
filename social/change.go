package social

import "context"

// Change names the users, relations between users, and sessions that a transaction has changed. It
// says what to read again, not what the new values are, and may name too much.
type Change struct {
	Users    []UserID   // their profiles, rights or counts
	Pairs    []Pair     // the relations between two users, in both directions
	Around   []UserID   // all relations of a user, in both directions
	Sessions [][32]byte // hashes of the tokens of sessions that ended or changed, and keys of identities that did
	All      bool       // everything
}

// IsEmpty reports whether nothing has changed.
func (c *Change) IsEmpty() bool {
	return !c.All && len(c.Users)+len(c.Pairs)+len(c.Around)+len(c.Sessions) == 0
}

// maxChange is the maximum number of users, pairs and sessions that a change names.
const maxChange = 64

// Bounded returns the change, or a change of everything if it names more than 64 users, pairs and
// sessions.
func (c Change) Bounded() Change {
	if len(c.Users)+len(c.Pairs)+len(c.Around)+len(c.Sessions) > maxChange {
		return Change{All: true}
	}
	return c
}

// UsersChanged is a change of users' profiles, rights or counts.
func UsersChanged(users ...UserID) Change { return Change{Users: users} }

// BothChanged is a change between two users, which may also change their counts.
func BothChanged(one, other UserID) Change {
	return Change{Users: []UserID{one, other}, Pairs: []Pair{{one, other}}}
}

// AroundChanged is a change of a user, and of all relations to and from that user.
func AroundChanged(user UserID) Change {
	return Change{Users: []UserID{user}, Around: []UserID{user}}
}

// SessionsEnded is the end of the sessions whose tokens have these hashes, or of the tokens of the
// identities with these keys.
func SessionsEnded(tokenHashes ...[32]byte) Change { return Change{Sessions: tokenHashes} }

// Add adds another change.
func (c *Change) Add(more Change) {
	c.Users = append(c.Users, more.Users...)
	c.Pairs = append(c.Pairs, more.Pairs...)
	c.Around = append(c.Around, more.Around...)
	c.Sessions = append(c.Sessions, more.Sessions...)
	c.All = c.All || more.All
}

// ChangePosition is a position among the changes, in the engine's own form; nil: before all.
type ChangePosition []int64

// ChangeLog is what lets a server keep users, relations and sessions in memory.
type ChangeLog interface {
	// Changes returns everything that has changed since a position, and the current position. It
	// includes every call that returned before this one began, on any server; and whatever Users,
	// Relations, People, Session and Identities return to later calls of this server is at least as
	// new. If the engine no longer knows, or if too much has changed, it returns a change of All.
	// ErrNoChanges: the changes of some servers are not known.
	Changes(ctx context.Context, since ChangePosition) ([]Change, ChangePosition, error)
}
