package live

import (
	"context"
	"sync"
	"time"

	"plaza/social"
)

// watch is the part of a subscription to changes of posts. It has no position: what counts is how each post is
// now. So a queue has each post at most once, and a subscription that missed changes reads all its posts.
type watch struct {
	posts []social.PostID

	mu      sync.Mutex
	authors map[social.PostID]social.UserID // of the posts that the subscriber has; zero: unknown
	silent  bool                            // the first look at the posts sends nothing
}

// Posts subscribes to the changes of posts, until ctx ends. If current is set, the subscription begins with each
// post as it is: those that the subscriber may not see, or that do not exist, are Removed.
func (h *Hub) Posts(ctx context.Context, who Subscriber, posts []social.PostID, current bool, receiver Receiver) {
	w := &watch{posts: posts, authors: map[social.PostID]social.UserID{}, silent: true}
	if current {
		w.expectAll()
	}
	topics := []topic{{kind: ofAllPosts}, {kind: ofRelations, user: who.Viewer}}
	for _, post := range posts {
		topics = append(topics, topic{kind: ofPost, post: post})
	}
	h.begin(&Subscription{
		viewer: who.Viewer, session: who.Session, topics: topics, watch: w, hub: h, receiver: receiver, ctx: ctx, behind: true,
	})
}

// expectAll is called before all posts are sent: the subscriber may have any of them.
func (w *watch) expectAll() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.silent {
		return
	}
	w.silent = false
	for _, post := range w.posts {
		w.authors[post] = social.UserID{}
	}
}

// item is what to send of a post: as it was found (nil: the subscriber may not see it), or that it is gone; nil:
// nothing.
func (w *watch) item(u *update, found *Item) *Item {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, has := w.authors[u.changes]; found == nil && has {
		return &Item{Key: u.key, Event: Removed, PostID: u.changes}
	}
	return found
}

// sent notes what the subscriber has.
func (w *watch) sent(item *Item) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if item.Post == nil {
		delete(w.authors, item.PostID)
	} else {
		w.authors[item.PostID] = item.Post.Author
	}
}

// touched lists the posts that an event may show to the viewer, or hide, although it is not about them.
func (w *watch) touched(viewer social.UserID, e social.Event) []social.PostID {
	w.mu.Lock()
	defer w.mu.Unlock()
	var touched []social.PostID
	for _, post := range w.posts {
		if e.Touches(viewer, w.authors[post]) {
			touched = append(touched, post)
		}
	}
	return touched
}

// look reads all posts of a watch, and queues them, unless it is the first look of a silent watch.
func (s *Subscription) look() error {
	s.mu.Lock()
	s.behind = false
	hidings := s.hub.service.Hidings()
	s.mu.Unlock()
	ctx, done, err := s.hub.reader(s.ctx)
	if err != nil {
		return err
	}
	defer done()
	seen, err := s.hub.service.PostsSeen(ctx, s.viewer, s.watch.posts)
	if err != nil || s.watch.notes(seen) {
		return err
	}
	found := make(map[social.PostID]social.Sighting, len(seen))
	for _, g := range seen {
		found[g.Post.ID] = g
	}
	for _, post := range s.watch.posts {
		u := s.hub.newChange(s.ctx, post, []*Subscription{s})
		u.seen = &sighting{Sighting: found[post], hidings: hidings, encoded: map[encodingKey]*encoding{}}
		s.queueChange(u, false)
	}
	return nil
}

// notes remembers the posts that a silent watch begins with; false: it is not silent.
func (w *watch) notes(seen []social.Sighting) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.silent {
		return false
	}
	w.silent = false
	for _, g := range seen {
		w.authors[g.Post.ID] = g.Post.Author
	}
	return true
}

// queueChange queues a change of a post. If one is queued, it takes its place if it is newer, and is dropped
// otherwise.
func (s *Subscription) queueChange(u *update, newer bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		u.received(s.viewer)
		return
	}
	for i, queued := range s.queue {
		if queued.changes == u.changes {
			if newer {
				s.queue[i], u = u, queued
			}
			u.received(s.viewer)
			return
		}
	}
	s.queue = append(s.queue, u)
	s.run()
}

// mergeTime: changes of a post that follow each other faster are told as one.
const mergeTime = 100 * time.Millisecond

// dispatchChange tells the watches of posts of an event.
func (h *Hub) dispatchChange(ctx context.Context, e social.Event) {
	if e.Kind.ChangesPost() {
		h.postChanged(ctx, e.Post)
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

func (h *Hub) newChange(ctx context.Context, post social.PostID, subscriptions []*Subscription) *update {
	u := &update{hub: h, ctx: ctx, key: keyOf(post, social.CommentID{}), changes: post}
	u.see = func(ctx context.Context, viewers []social.UserID) (social.Sighting, error) {
		return h.service.PostViewers(ctx, post, viewers)
	}
	u.await(subscriptions)
	return u
}
