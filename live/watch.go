package live

import (
	"sync"

	"plaza/social"
	"plaza/social/network"
)

// watch is the part of a subscription to changes of posts. It has no position, because only the
// current state of each post matters. So a queue has each post at most once, and a subscription
// that missed changes reads all its posts, some at a time.
type watch struct {
	posts []social.PostID

	mu     sync.Mutex
	unread []social.PostID          // since it began, or missed changes
	has    map[social.PostID]people // the posts that the subscriber has
	silent bool                     // the first look at the posts sends nothing
}

// people are the users that a post shows; zero if they are unknown.
type people struct{ author, wallOwner social.UserID }

func peopleOf(p *social.Post) people { return people{p.Author, p.WallOwner} }

func newWatch(posts []social.PostID, current bool) *watch {
	w := &watch{posts: posts, unread: posts, has: map[social.PostID]people{}, silent: true}
	if current {
		w.readAgain()
	}
	return w
}

// next takes some of the posts that are to be read, and reports whether there are more.
func (w *watch) next(limit int) (posts []social.PostID, more bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := min(limit, len(w.unread))
	posts, w.unread = w.unread[:n], w.unread[n:]
	return posts, len(w.unread) > 0
}

// isSilent reports whether the watch has not learned yet what its subscriber has.
func (w *watch) isSilent() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.silent
}

// readAgain prepares for reading and sending all posts: the subscriber may have any of them.
func (w *watch) readAgain() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.unread = w.posts
	if !w.silent {
		return
	}
	w.silent = false
	for _, post := range w.posts {
		w.has[post] = people{}
	}
}

// item returns what to send for a post: the post as it was found (nil: the subscriber may not see
// it), or its removal; nil if there is nothing to send.
func (w *watch) item(u *update, found *Item) *Item {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, has := w.has[u.changes]; found == nil && has {
		return &Item{Key: u.key, Event: Removed, PostID: u.changes}
	}
	return found
}

// sent records what the subscriber gets.
func (w *watch) sent(item *Item) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if item.Post == nil {
		delete(w.has, item.PostID)
	} else {
		w.has[item.PostID] = peopleOf(item.Post)
	}
}

// touched lists the posts that an event may show to the viewer, or hide, and those whose wall's
// owner it may, although the event is not about these posts.
func (w *watch) touched(viewer social.UserID, e social.Event) []social.PostID {
	w.mu.Lock()
	defer w.mu.Unlock()
	var touched []social.PostID
	for _, post := range w.posts {
		if of := w.has[post]; e.Touches(viewer, of.author) || e.TouchesUser(viewer, of.wallOwner) {
			touched = append(touched, post)
		}
	}
	return touched
}

// notes records posts that a silent watch begins with. It returns false if the watch is not silent,
// which it is until no post is unread.
func (w *watch) notes(seen []network.Sighting) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.silent {
		return false
	}
	w.silent = len(w.unread) > 0
	for _, g := range seen {
		w.has[g.Post.ID] = peopleOf(g.Post)
	}
	return true
}
