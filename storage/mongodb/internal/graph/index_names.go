package graph

// The indexes that queries name as hints.
const (
	byOwnerID  = "owner_id"
	byFollower = "following" // a user's follows, newest first
	byFollowed = "followers" // the follows of a user, newest first
	byMember   = "circles_other"
	byJoined   = "joined" // the members of a circle, in the order in which they were added
	byMute     = "muted"
	byBlock    = "blocked"
	byOther    = "other"
)
