package live

import (
	"context"

	"plaza/social"
	"plaza/social/network"
)

// topic is the property that the subscribers of an event share. The zero value is the news of any
// viewer.
type topic struct {
	kind topicKind
	post social.PostID
	user social.UserID
}

type topicKind int

const (
	ofNews          topicKind = iota
	ofIncoming                // posts that reach any viewer
	ofWall                    // posts on a wall
	ofThread                  // comments on a post, as they are written
	ofPost                    // changes of a post
	ofComments                // changes of the comments on a post
	ofNotifications           // a user's notifications
	ofRelations               // changes of posts, by a viewer's relations
	ofAllPosts                // changes of posts, by what an author does
)

// lookUp finds the viewers, among those given, who may see something.
type lookUp func(ctx context.Context, viewers []social.UserID) (network.Sighting, error)

// viewersOf returns the look-up of the viewers who see a new post or comment in the list of a
// topic.
func (about topic) viewersOf(service *network.Service, post social.PostID, comment social.CommentID) lookUp {
	return func(ctx context.Context, viewers []social.UserID) (network.Sighting, error) {
		switch about.kind {
		case ofThread:
			return service.CommentViewers(ctx, comment, viewers)
		case ofWall:
			return service.WallViewers(ctx, post, viewers)
		case ofIncoming:
			return service.IncomingViewers(ctx, post, viewers)
		default:
			return service.NewsViewers(ctx, post, viewers)
		}
	}
}
