package social

import "context"

// Store is all that the Service needs of a storage engine. Every engine passes the suite in storage/storagetest.
//
// What holds for all calls, those of EventLog, Worker and Importer too: a call that returns nil is durable, also when the process or the database's primary
// is killed right after; a call that returns an error has changed nothing, unless the error is ErrUnavailable or ctx's, when
// it may have happened. A write and its event are one transaction. What a call has written, every later call reads,
// on every server, except as [Worker] says of News. What is written for a user who has deleted their account is refused with
// ErrAccountGone, or removed later (Users.DeleteUser). Texts come back byte for byte. Errors that are no sentinel of this package are internal.
type Store interface {
	Users
	Properties
	Sessions
	Circles
	Graph
	Posts
	Feeds
	Comments
}

// Importer stores much at once. What exists already is left as it is, so that an import can be run again; counts
// stay exact. Whoever has deleted their account stays deleted: what an import has of them is left out. Each call is one transaction; the caller chooses the size of its batches (about 1,000). No events are written.
type Importer interface {
	// ImportUsers stores the users whose id does not exist, each with the built-in circle. ErrTaken: a handle belongs to another id.
	ImportUsers(ctx context.Context, users []NewUser) (added int, err error)
	// ImportCircles stores the circles whose id does not exist. ErrTaken: a name is in use by another id.
	ImportCircles(ctx context.Context, circles []*Circle) (added int, err error)
	// ImportMemberships stores the memberships that do not exist, beginning follows as AddToCircle does, with the
	// edge ids of the same index. Users and circles must exist. Pairs with a block between them are left out.
	ImportMemberships(ctx context.Context, memberships []Membership, edges []EdgeID) (added int, err error)
}
