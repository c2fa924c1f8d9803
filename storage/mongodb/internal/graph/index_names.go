package graph

// The indexes that queries name as hints.
const (
	byOwnerID  = "owner_id"
	byFollower = "following" // a user's follows, newest first
	byFollowed = "followers" // the follows of a user, newest first
	byJoined   = "joined"    // the members of a circle, in the order in which they were added
	byMute     = "muted"
	byBlock    = "blocked"
	// byUnfollowed finds the other edges that lead to a user, which have no follow.
	byUnfollowed = "unfollowed"
)
