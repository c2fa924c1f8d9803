package live

import (
	"context"

	"plaza/social"
)

// News subscribes to the posts that appear in the subscriber's news, until ctx ends: first those
// behind the post after, then those that are created. Without a key, the subscription begins now.
func (h *Hub) News(ctx context.Context, who Subscriber, after social.Key, receiver Receiver) {
	h.subscribe(ctx, who, topic{}, after, receiver)
}

// Incoming subscribes to the posts that others address to the subscriber, like News.
func (h *Hub) Incoming(ctx context.Context, who Subscriber, after social.Key, receiver Receiver) {
	h.subscribe(ctx, who, topic{kind: ofIncoming}, after, receiver)
}

// Wall subscribes to the posts on a user's wall, like News.
func (h *Hub) Wall(ctx context.Context, who Subscriber, owner social.UserID, after social.Key, receiver Receiver) {
	h.subscribe(ctx, who, topic{kind: ofWall, user: owner}, after, receiver)
}

// Comments subscribes to the comments on a post, like News.
func (h *Hub) Comments(ctx context.Context, who Subscriber, post social.PostID, after social.Key, receiver Receiver) {
	h.subscribe(ctx, who, topic{kind: ofThread, post: post}, after, receiver)
}

// Notifications subscribes to the subscriber's notifications and their new acts, until ctx ends:
// first those behind the position after, then new ones. It reads them from the database when an
// event reports them, so the subscription only ever catches up.
func (h *Hub) Notifications(ctx context.Context, who Subscriber, after social.Key, receiver Receiver) {
	h.subscribe(ctx, who, topic{kind: ofNotifications, user: who.Viewer}, after, receiver)
}

// Posts subscribes to the changes of posts, until ctx ends. If current is set, the subscription
// begins with the current state of each post: those that the subscriber may not see, or that do not
// exist, are Removed.
func (h *Hub) Posts(ctx context.Context, who Subscriber, posts []social.PostID, current bool, receiver Receiver) {
	topics := []topic{{kind: ofAllPosts}, {kind: ofRelations, user: who.Viewer}}
	for _, post := range posts {
		topics = append(topics, topic{kind: ofPost, post: post})
	}
	h.begin(&Subscription{
		surroundings: &h.surroundings, viewer: who.Viewer, client: who.Client, session: who.Session, issued: who.Issued, topics: topics, watch: newWatch(posts, current),
		receiver: receiver, ctx: ctx, behind: true,
	})
}

// CommentChanges subscribes to the edits and deletions of the comments on a post, until ctx ends.
func (h *Hub) CommentChanges(ctx context.Context, who Subscriber, post social.PostID, receiver Receiver) {
	h.subscribe(ctx, who, topic{kind: ofComments, post: post}, "", receiver)
}

func (h *Hub) subscribe(ctx context.Context, who Subscriber, about topic, after social.Key, receiver Receiver) {
	h.begin(&Subscription{
		surroundings: &h.surroundings, viewer: who.Viewer, client: who.Client, session: who.Session, issued: who.Issued, topics: []topic{about},
		receiver: receiver, ctx: ctx, position: after, behind: after != "",
	})
}

// begin registers a subscription. If it is behind, it starts to catch up.
func (h *Hub) begin(s *Subscription) {
	if !h.registry.add(s) {
		s.receiver.End(ErrClosed)
		return
	}
	context.AfterFunc(s.ctx, func() { s.end(nil) })
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.behind && !s.ended {
		s.run()
	}
}
