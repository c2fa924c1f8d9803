package social

import "context"

// Store is everything that the Service needs from a storage engine. Every engine passes the suite
// in storage/storagetest.
//
// These rules hold for all calls, including those of EventLog, Worker and Importer. A call that
// returns nil is durable, even if the process or the database's primary is killed right after. A
// call that returns an error has changed nothing, unless the error is ErrUnavailable or ctx's: then
// it may have succeeded. A write and its event are one transaction. Every later call on every
// server reads what a call has written, except as [Worker] says of News. Writes for a user who has
// deleted their account fail with ErrAccountGone, or are removed later (Users.DeleteUser). Texts
// are returned byte for byte. Errors that are not sentinels of this package are internal.
type Store interface {
	Accounts
	Properties
	Circles
	Graph
	Posts
	Marks
	Feeds
	Comments
	Notifications
	Cases
	Decisions
	IdempotencyKeys
	ChangeLog
}

// Accounts stores who has an account, and how they prove it.
type Accounts interface {
	Users
	Sessions
	Identities
	Standings
	Emails
	Invitations
}

// Importer stores data in bulk. Existing data is not changed, so an import can be repeated; counts
// stay exact. Deleted accounts stay deleted: their data in an import is skipped. Each call is one
// transaction; the caller chooses the batch size (about 1,000). No events are written.
type Importer interface {
	// ImportUsers stores the users whose id does not exist, each with the built-in circle.
	// ErrTaken: a handle belongs to another id.
	ImportUsers(ctx context.Context, users []NewUser) (added int, err error)
	// ImportCircles stores the circles whose id does not exist. ErrTaken: a name is in use by
	// another id.
	ImportCircles(ctx context.Context, circles []*Circle) (added int, err error)
	// ImportMemberships stores the memberships that do not exist, and begins follows as AddToCircle
	// does, with the edge ids of the same index. Members must exist. It skips pairs with a block
	// between them, deleted accounts, and circles that their owner does not have.
	ImportMemberships(ctx context.Context, memberships []Membership, edges []EdgeID) (added int, err error)
}
