package mongodb

import "plaza/storage/mongodb/internal/feeds"

// The indexes that queries name as hints.
const (
	byWall       = feeds.ByWall
	byAuthor     = feeds.ByAuthor
	byInbox      = feeds.ByInbox
	byAddressed  = "addressed_seq"
	byPostNumber = "post_number"
	byUserID     = "user_id" // of marks: in the order of posts
	byClosing    = "closesAt"
)
