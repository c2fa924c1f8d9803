package live

import (
	"context"
	"maps"
	"slices"
	"sync"

	"plaza/social"
	"plaza/social/network"
)

// Change is the kind of a live update.
type Change string

// Added: something is new. Changed: it is different. Removed: it is gone, or hidden from the subscriber; the
// item has only its id. Gap: an unknown number of updates was missed, and the item has nothing else.
const (
	Added   Change = "ADDED"
	Changed Change = "CHANGED"
	Removed Change = "REMOVED"
	Gap     Change = "GAP"
)

// Item is a live update as one subscriber may see it.
type Item struct {
	Key   social.Key // of the post, or of the comment in its thread, oldest first
	Event Change
	// PostID is set in changes of posts, and CommentID in changes of comments.
	PostID    social.PostID
	CommentID social.CommentID
	Post      *social.Post
	Comment   *social.Comment // nil: the post itself is new
	// Notification is set in updates of notifications, which have no post.
	Notification *social.Notification
	// People are those whom the item names, and Relations are the subscriber's relations to them, as
	// they were checked for this item.
	People    map[social.UserID]*social.User
	Relations map[social.UserID]social.Relation

	seen *sighting
	view string
}

// Shared returns what encode returns for one of the subscribers who made this selection and have the
// same view of the item (see network.Sighting.View): it is encoded once for all of them. It must
// depend on nothing else of the subscriber.
func (i *Item) Shared(selection any, encode func() []byte) []byte {
	return i.seen.shared(encodingKey{selection, i.view}, encode)
}

// update is an event on its way to its subscribers. What is read and encoded for it is read and
// encoded once for all of them.
type update struct {
	hub *Hub
	ctx context.Context // the hub's, or the subscription's that catches up
	key social.Key
	// changes is the post of which this is a change, or of one of its comments; zero: something is new.
	changes social.PostID
	comment social.CommentID // that changed
	isKnown bool             // this is a change of a notification that was there before
	see     func(context.Context, []social.UserID) (network.Sighting, error)

	mu      sync.Mutex
	waiting map[social.UserID]int // the number of subscriptions of each viewer that have not received it
	seen    *sighting             // nil: nothing has been read yet
}

func (h *Hub) newUpdate(ctx context.Context, e *social.Event, subscriptions []*Subscription, see func(context.Context, []social.UserID) (network.Sighting, error)) *update {
	u := &update{hub: h, ctx: ctx, key: keyOf(e.Post, e.Comment), see: see}
	u.await(subscriptions)
	return u
}

// newPastUpdate is an update that a subscription that catches up has read behind a position. It was
// read when hidings was counted.
func (h *Hub) newPastUpdate(s *Subscription, found *network.Sighting, after social.Key, hidings uint64) *update {
	u := &update{hub: h, ctx: s.ctx, waiting: map[social.UserID]int{s.viewer: 1}}
	u.seen = &sighting{Sighting: *found, hidings: hidings, encoded: map[encodingKey]*encoding{}}
	if n := found.Notification; n != nil {
		u.key, u.isKnown = social.Key(n.Order.Bytes()), social.Key(n.ID.Bytes()) <= after
		u.see = func(ctx context.Context, _ []social.UserID) (network.Sighting, error) {
			return h.service.NotificationViewers(ctx, n.To, n.ID)
		}
		return u
	}
	post, comment := found.Post.ID, social.CommentID{}
	if found.Comment != nil {
		comment = found.Comment.ID
	}
	u.key, u.see = keyOf(post, comment), h.viewersOf(s.topics[0], post, comment)
	return u
}

// await counts those who are to receive the update.
func (u *update) await(subscriptions []*Subscription) {
	u.waiting = map[social.UserID]int{}
	for _, s := range subscriptions {
		u.waiting[s.viewer]++
	}
}

// gap says that updates were missed.
var gap = &update{}

// keyOf is the key of a comment in its thread, or else of a post in the news.
func keyOf(post social.PostID, comment social.CommentID) social.Key {
	if comment.IsZero() {
		return social.Key(post.Bytes())
	}
	return social.Key(comment.Bytes())
}

// current returns who of those who wait may see the update now. It reads again, for all of them, if
// anything may have been hidden since it last did: a subscriber may have been blocked in the meantime.
func (u *update) current() (*sighting, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	hidings := u.hub.service.Hidings()
	if u.seen != nil && u.seen.hidings == hidings {
		return u.seen, nil
	}
	found, err := u.see(u.ctx, slices.Collect(maps.Keys(u.waiting)))
	if err != nil {
		return nil, err
	}
	u.seen = &sighting{Sighting: found, hidings: hidings, encoded: map[encodingKey]*encoding{}}
	return u.seen, nil
}

// received is called when a subscription of a viewer has received the update.
func (u *update) received(viewer social.UserID) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.waiting[viewer]--; u.waiting[viewer] == 0 {
		delete(u.waiting, viewer)
	}
}

// sighting is what was read of an update, and who may see it. It holds until something is hidden.
type sighting struct {
	network.Sighting

	hidings uint64

	mu      sync.Mutex
	encoded map[encodingKey]*encoding
}

type encodingKey struct {
	selection any
	view      string
}

type encoding struct {
	once sync.Once
	text []byte
}

// item returns the update as a viewer may see it; nil: not at all.
func (g *sighting) item(u *update, viewer social.UserID) *Item {
	relations, sees := g.Viewers[viewer]
	if !sees {
		return nil
	}
	event := Added
	if !u.changes.IsZero() || u.isKnown {
		event = Changed
	}
	if g.Notification != nil {
		return &Item{Key: u.key, Event: event, Notification: g.Notification}
	}
	if !u.comment.IsZero() && g.Comment == nil {
		return &Item{Key: u.key, Event: Removed, CommentID: u.comment}
	}
	return &Item{
		Key: u.key, Event: event, PostID: u.changes, CommentID: u.comment, Post: g.Post, Comment: g.Comment, People: g.People, Relations: relations,
		seen: g, view: g.View(viewer),
	}
}

func (g *sighting) shared(key encodingKey, encode func() []byte) []byte {
	g.mu.Lock()
	e := g.encoded[key]
	if e == nil {
		e = &encoding{}
		g.encoded[key] = e
	}
	g.mu.Unlock()
	e.once.Do(func() { e.text = encode() })
	return e.text
}
