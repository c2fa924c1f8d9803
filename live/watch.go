package live

import (
	"context"
	"sync"

	"plaza/social"
	"plaza/social/network"
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

// CommentChanges subscribes to the edits and deletions of the comments on a post, until ctx ends.
func (h *Hub) CommentChanges(ctx context.Context, who Subscriber, post social.PostID, receiver Receiver) {
	h.subscribe(ctx, who, topic{kind: ofComments, post: post}, "", receiver)
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
	found := make(map[social.PostID]network.Sighting, len(seen))
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
func (w *watch) notes(seen []network.Sighting) bool {
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

// queueChange queues a change. If one of the same post or comment is queued, it takes its place if it is newer,
// and is dropped otherwise. Comments have no limit: if too many have changed, a gap takes the place of all.
func (s *Subscription) queueChange(u *update, newer bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		u.received(s.viewer)
		return
	}
	for i, queued := range s.queue {
		if queued.key == u.key {
			if newer {
				s.queue[i], u = u, queued
			}
			u.received(s.viewer)
			return
		}
	}
	if s.watch == nil && len(s.queue) >= BufferSize {
		s.queue, u = nil, gap
	}
	s.queue = append(s.queue, u)
	s.run()
}
