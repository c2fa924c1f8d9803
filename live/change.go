package live

import (
	"context"
	"time"

	"plaza/social"
	"plaza/social/network"
)

// mergeTime: changes of a post that follow each other faster are told as one.
const mergeTime = 100 * time.Millisecond

// dispatchChange tells the watches of posts of an event.
func (h *Hub) dispatchChange(ctx context.Context, e social.Event) {
	if e.Kind.ChangesPost() {
		h.postChanged(ctx, e.Post)
		h.commentChanged(ctx, e)
		return
	}
	touched := map[social.PostID][]*Subscription{}
	for _, s := range h.touchedBy(e) {
		for _, post := range s.watch.touched(s.viewer, e) {
			touched[post] = append(touched[post], s)
		}
	}
	for post, subscriptions := range touched {
		h.tellChange(ctx, post, subscriptions)
	}
}

// touchedBy finds the watches some of whose posts an event may show or hide.
func (h *Hub) touchedBy(e social.Event) []*Subscription {
	switch e.Kind {
	case social.EventCircleDeleted, social.EventUserDeleted:
		return h.subscribers(topic{kind: ofAllPosts})
	case social.EventMemberAdded, social.EventMemberRemoved, social.EventUnfollowed, social.EventBlocked, social.EventUnblocked:
		return append(h.subscribers(topic{kind: ofRelations, user: e.Target}), h.subscribers(topic{kind: ofRelations, user: e.Actor})...)
	default:
		return nil
	}
}

// postChanged tells of a change, at most once in mergeTime: a change that comes sooner is told at its end.
func (h *Hub) postChanged(ctx context.Context, post social.PostID) {
	subscriptions := h.subscribers(topic{kind: ofPost, post: post})
	if len(subscriptions) == 0 || h.isMerged(post) {
		return
	}
	h.tellChange(ctx, post, subscriptions)
	time.AfterFunc(mergeTime, func() {
		if h.mayTell(post) {
			h.postChanged(ctx, post)
		}
	})
}

// isMerged reports whether a change of the post was told a moment ago. This one is then told later.
func (h *Hub) isMerged(post social.PostID) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	_, merged := h.merging[post]
	h.merging[post] = merged
	return merged
}

// mayTell ends the time in which changes of a post are merged, and reports whether there were any.
func (h *Hub) mayTell(post social.PostID) (changed bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	changed = h.merging[post]
	delete(h.merging, post)
	return changed
}

// tellChange queues a post for subscriptions. It is read when the first of them sends it.
func (h *Hub) tellChange(ctx context.Context, post social.PostID, subscriptions []*Subscription) {
	u := h.newChange(ctx, post, subscriptions)
	for _, s := range subscriptions {
		s.queueChange(u, true)
	}
}

// commentChanged tells the subscribers to the changes of a thread of an event. What happens to comments has no
// current state to read: whoever misses some gets a gap.
func (h *Hub) commentChanged(ctx context.Context, e social.Event) {
	if e.Kind != social.EventCommentEdited && e.Kind != social.EventCommentDeleted {
		return
	}
	subscriptions := h.subscribers(topic{kind: ofComments, post: e.Post})
	if len(subscriptions) == 0 {
		return
	}
	u := h.newUpdate(ctx, &e, subscriptions, func(ctx context.Context, viewers []social.UserID) (network.Sighting, error) {
		return h.service.CommentChangeViewers(ctx, e, viewers)
	})
	u.changes, u.comment = e.Post, e.Comment
	for _, s := range subscriptions {
		s.queueChange(u, true)
	}
}

func (h *Hub) newChange(ctx context.Context, post social.PostID, subscriptions []*Subscription) *update {
	u := &update{hub: h, ctx: ctx, key: keyOf(post, social.CommentID{}), changes: post}
	u.see = func(ctx context.Context, viewers []social.UserID) (network.Sighting, error) {
		return h.service.PostViewers(ctx, post, viewers)
	}
	u.await(subscriptions)
	return u
}
