package live

import (
	"sync"

	"plaza/social"
	"plaza/social/network"
)

// watch is the part of a subscription to changes of posts. It has no position, because only the
// current state of each post matters. So a queue has each post at most once, and a subscription
// that missed changes reads all its posts.
type watch struct {
	posts []social.PostID

	mu      sync.Mutex
	authors map[social.PostID]social.UserID // of the posts that the subscriber has; zero if unknown
	silent  bool                            // the first look at the posts sends nothing
}

func newWatch(posts []social.PostID, current bool) *watch {
	w := &watch{posts: posts, authors: map[social.PostID]social.UserID{}, silent: true}
	if current {
		w.expectAll()
	}
	return w
}

// expectAll prepares for sending all posts: the subscriber may have any of them.
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

// item returns what to send for a post: the post as it was found (nil: the subscriber may not see
// it), or its removal; nil if there is nothing to send.
func (w *watch) item(u *update, found *Item) *Item {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, has := w.authors[u.changes]; found == nil && has {
		return &Item{Key: u.key, Event: Removed, PostID: u.changes}
	}
	return found
}

// sent records what the subscriber has.
func (w *watch) sent(item *Item) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if item.Post == nil {
		delete(w.authors, item.PostID)
	} else {
		w.authors[item.PostID] = item.Post.Author
	}
}

// touched lists the posts that an event may show to the viewer, or hide, although the event is not
// about these posts.
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

// notes records the posts that a silent watch begins with. It returns false if the watch is not
// silent.
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
