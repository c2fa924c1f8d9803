package social

import "context"

// Feeds lists posts, newest first. Keys are post ids. Engines are free in how they store feeds.
// They return candidates: a superset of the posts that the viewer may see, each once and in order.
// The service drops the others.
type Feeds interface {
	// Wall lists the posts on each owner's wall (Post.WallOwner), by any author.
	Wall(ctx context.Context, lists []List[UserID]) (map[List[UserID]][]*Post, error)
	// PostsBy lists each author's posts, on any wall.
	PostsBy(ctx context.Context, lists []List[UserID]) (map[List[UserID]][]*Post, error)
	// News lists the posts by the viewer and by the users the viewer follows now.
	News(ctx context.Context, viewer UserID, p Page) ([]*Post, error)
	// Incoming lists the posts by others that are on the viewer's wall, or whose audience is
	// CIRCLES while the viewer is in any of their author's circles, or LISTED while the viewer is
	// in a listed one.
	Incoming(ctx context.Context, viewer UserID, p Page) ([]*Post, error)
}

// WallView selects the posts that owners see on their own wall.
type WallView string

// The views of one's own wall.
const (
	ViewFollowed WallView = "FOLLOWED" // the owner's, and those by users the owner follows
	ViewAll      WallView = "ALL"      // everyone's, except users the owner blocks or mutes
)
