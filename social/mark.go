package social

import "context"

// Mark is what a user has done to a post: a reaction (a ReactionKind), a vote (the index of an
// option), or a muted thread (true).
type Mark[T any] struct {
	Post  PostID
	Value T
}

// Marks lists what users have done to posts, in the order of the posts' ids: those behind after, at
// most limit. It includes posts that the user can no longer see. On MongoDB, documents that a
// version before accounts could be deleted has written, and that no migration of documents has
// upgraded since, are missing.
type Marks interface {
	// ReactionsBy lists a user's reactions.
	ReactionsBy(ctx context.Context, user UserID, after PostID, limit int) ([]Mark[ReactionKind], error)
	// VotesBy lists a user's votes.
	VotesBy(ctx context.Context, user UserID, after PostID, limit int) ([]Mark[int], error)
	// ThreadsMutedBy lists the posts whose threads a user mutes.
	ThreadsMutedBy(ctx context.Context, user UserID, after PostID, limit int) ([]Mark[bool], error)
}
