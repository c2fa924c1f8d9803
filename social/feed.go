package social

import "context"

// Feeds lists posts, newest first. Keys are post ids. How an engine stores feeds is its own affair; its answers are
// candidates: every post that the viewer may see is among them, once and in order, and the service leaves the others out.
type Feeds interface {
	// Wall lists the posts on each owner's wall (Post.WallOwner), whoever wrote them.
	Wall(ctx context.Context, lists []List[UserID]) (map[List[UserID]][]*Post, error)
	// PostsBy lists the posts that each author wrote, on any wall.
	PostsBy(ctx context.Context, lists []List[UserID]) (map[List[UserID]][]*Post, error)
	// News lists the posts written by the viewer and by everybody whom the viewer follows now.
	News(ctx context.Context, viewer UserID, p Page) ([]*Post, error)
	// Incoming lists the posts by others that are on the viewer's wall, or whose audience is CIRCLES while the
	// viewer is in any of their author's circles, or LISTED while the viewer is in a listed one.
	Incoming(ctx context.Context, viewer UserID, p Page) ([]*Post, error)
}

// WallView says whose posts an owner's view of the own wall shows.
type WallView string

// The views of one's own wall.
const (
	ViewFollowed WallView = "FOLLOWED" // the owner's, and those by people whom the owner follows
	ViewAll      WallView = "ALL"      // everybody's whom the owner neither blocks nor mutes
)
