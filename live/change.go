package live

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"plaza/social"
	"plaza/social/network"
)

// mergeTime limits the changes of a post: those that follow each other faster are merged into one.
const mergeTime = 100 * time.Millisecond

// changes notifies subscribers of changes to objects that they have.
type changes struct {
	service  *network.Service
	registry *registry

	mu      sync.Mutex
	merging map[social.PostID]bool // posts with a change sent within mergeTime, and whether another is waiting
}

// tell passes an event on to the subscriptions that watch posts.
func (c *changes) tell(ctx context.Context, e social.Event) {
	if e.Kind.ChangesPost() {
		c.postChanged(ctx, e.Post)
		c.commentChanged(ctx, e)
		return
	}
	touched := map[social.PostID][]*Subscription{}
	for _, s := range c.touchedBy(e) {
		for _, post := range s.watch.touched(s.viewer, e) {
			touched[post] = append(touched[post], s)
		}
	}
	c.addPreviews(ctx, e, touched)
	for post, subscriptions := range touched {
		c.queue(ctx, post, subscriptions)
	}
}

// addPreviews adds the posts by others whose previews an event changes for its actor, or also for its
// target: they begin to see someone's comments there, or cease to, or mute the thread.
func (c *changes) addPreviews(ctx context.Context, e social.Event, touched map[social.PostID][]*Subscription) {
	switch e.Kind {
	case social.EventBlocked, social.EventUnblocked:
		c.addPreviewsOf(ctx, e.Actor, e.Target, touched)
		c.addPreviewsOf(ctx, e.Target, e.Actor, touched)
	case social.EventMuted, social.EventUnmuted:
		c.addPreviewsOf(ctx, e.Actor, e.Target, touched)
	case social.EventThreadMuted, social.EventThreadUnmuted:
		for _, s := range c.registry.subscribers(topic{kind: ofPost, post: e.Post}) {
			if s.viewer == e.Actor {
				touched[e.Post] = append(touched[e.Post], s)
			}
		}
	default: // it changes no previews, or is about their post
	}
}

// addPreviewsOf adds the posts that a viewer watches and whose previews may have comments by someone
// else. If that is not known, each subscription reads all its posts.
func (c *changes) addPreviewsOf(ctx context.Context, viewer, by social.UserID, touched map[social.PostID][]*Subscription) {
	subscriptions := c.registry.subscribers(topic{kind: ofRelations, user: viewer})
	previewed, known := c.previewedWith(ctx, viewer, by, subscriptions)
	for _, s := range subscriptions {
		if !known {
			s.fallBehind("")
			continue
		}
		for _, post := range s.watch.posts {
			if previewed[post] && !slices.Contains(touched[post], s) {
				touched[post] = append(touched[post], s)
			}
		}
	}
}

// maxLookedUp is the maximum number of posts that are looked up for an event, because others wait.
const maxLookedUp = 200

// previewedWith looks up, once, which of the watched posts of a viewer's subscriptions may have
// comments by someone else in their previews. False: there are too many, or the look-up failed.
func (c *changes) previewedWith(ctx context.Context, viewer, by social.UserID, subscriptions []*Subscription) (previewed map[social.PostID]bool, known bool) {
	watched := map[social.PostID]bool{}
	for _, s := range subscriptions {
		for _, post := range s.watch.posts {
			watched[post] = true
		}
	}
	if len(watched) == 0 || len(watched) > maxLookedUp {
		return nil, len(watched) == 0
	}
	previewed, err := c.service.PreviewedWith(ctx, viewer, by, slices.Collect(maps.Keys(watched)))
	return previewed, err == nil
}

// touchedBy finds the watches for which an event may show or hide some of their posts.
func (c *changes) touchedBy(e social.Event) []*Subscription {
	switch e.Kind {
	case social.EventCircleDeleted, social.EventUserDeleted, social.EventStandingChanged:
		return c.registry.subscribers(topic{kind: ofAllPosts})
	case social.EventMemberAdded, social.EventMemberRemoved, social.EventUnfollowed, social.EventBlocked, social.EventUnblocked:
		return append(c.registry.subscribers(topic{kind: ofRelations, user: e.Target}), c.registry.subscribers(topic{kind: ofRelations, user: e.Actor})...)
	default:
		return nil
	}
}

// postChanged sends a change, at most once in mergeTime: a change that comes sooner is sent at its
// end.
func (c *changes) postChanged(ctx context.Context, post social.PostID) {
	subscriptions := c.registry.subscribers(topic{kind: ofPost, post: post})
	if len(subscriptions) == 0 || c.isMerged(post) {
		return
	}
	c.queue(ctx, post, subscriptions)
	time.AfterFunc(mergeTime, func() {
		if c.mayTell(post) {
			c.postChanged(ctx, post)
		}
	})
}

// isMerged reports whether a change of the post was sent within mergeTime. If so, this one will be
// sent later.
func (c *changes) isMerged(post social.PostID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, merged := c.merging[post]
	c.merging[post] = merged
	return merged
}

// mayTell ends the time in which changes of a post are merged, and reports whether there were any.
func (c *changes) mayTell(post social.PostID) (changed bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	changed = c.merging[post]
	delete(c.merging, post)
	return changed
}

// queue queues a change of a post for subscriptions. It is read when the first of them sends it.
func (c *changes) queue(ctx context.Context, post social.PostID, subscriptions []*Subscription) {
	u := newChange(ctx, c.service, post, viewersOf(subscriptions))
	for _, s := range subscriptions {
		s.queueChange(u, true)
	}
}

// commentChanged passes an event on to the subscribers to the changes of a thread. A thread has no
// current state that could be read, so subscribers who miss changes get a gap.
func (c *changes) commentChanged(ctx context.Context, e social.Event) {
	if e.Kind != social.EventCommentEdited && e.Kind != social.EventCommentDeleted && e.Kind != social.EventReplyRemoved {
		return
	}
	subscriptions := c.registry.subscribers(topic{kind: ofComments, post: e.Post})
	if len(subscriptions) == 0 {
		return
	}
	u := newUpdate(ctx, c.service, keyOf(e.Post, e.Comment), viewersOf(subscriptions), func(ctx context.Context, viewers []social.UserID) (network.Sighting, error) {
		return c.service.CommentChangeViewers(ctx, e, viewers)
	})
	u.changes, u.comment = e.Post, e.Comment
	for _, s := range subscriptions {
		s.queueChange(u, true)
	}
}
