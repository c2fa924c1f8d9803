package live

import (
	"context"
	"sync"

	"plaza/social"
)

// Change is the kind of a live update.
type Change string

// Added: something is new.
const Added Change = "ADDED"

// Item is one live update.
type Item struct {
	Cursor  string // the event's position in the log
	Event   Change
	Post    *social.Post
	Comment *social.Comment // nil: the post itself is new
	// Relations holds the subscriber's relations to the people whom the item names, as they were
	// checked for this item.
	Relations map[social.UserID]social.Relation

	hidings uint64
}

// Recheck reports whether the item may still be shown to its subscriber. It reads again if anything
// may have been hidden since the last check: the item may have waited for a slow subscriber who was
// blocked in the meantime.
func (h *Hub) Recheck(ctx context.Context, item *Item, viewer social.UserID) (bool, error) {
	hidings := h.service.Hidings()
	if item.hidings == hidings {
		return true, nil
	}
	sighting, err := h.sighting(ctx, item, []social.UserID{viewer})
	if err != nil {
		return false, err
	}
	relations, sees := sighting.Viewers[viewer]
	item.Post, item.Comment, item.Relations, item.hidings = sighting.Post, sighting.Comment, relations, hidings
	return sees, nil
}

func (h *Hub) sighting(ctx context.Context, item *Item, viewers []social.UserID) (social.Sighting, error) {
	if item.Comment != nil {
		return h.service.CommentViewers(ctx, item.Comment.ID, viewers)
	}
	return h.service.NewsViewers(ctx, item.Post.ID, viewers)
}

// Subscriber is a user and their session; the zero value is signed out.
type Subscriber struct {
	Viewer  social.UserID
	Session [32]byte
}

// Subscription is one subscriber's bounded queue of items.
type Subscription struct {
	viewer  social.UserID
	session [32]byte
	topic   topic
	hub     *Hub
	onEnd   func(error)

	mu    sync.Mutex
	ended bool
	items chan *Item
}

// News subscribes to the posts that appear in the subscriber's news, until ctx ends. onEnd is
// called before the channel is closed for another reason, with one of this package's errors.
func (h *Hub) News(ctx context.Context, who Subscriber, onEnd func(error)) <-chan *Item {
	return h.subscribe(ctx, who, topic{}, onEnd)
}

// Comments subscribes to the comments on a post, like News.
func (h *Hub) Comments(ctx context.Context, who Subscriber, post social.PostID, onEnd func(error)) <-chan *Item {
	return h.subscribe(ctx, who, topic{post}, onEnd)
}

func (h *Hub) subscribe(ctx context.Context, who Subscriber, about topic, onEnd func(error)) <-chan *Item {
	s := &Subscription{
		viewer: who.Viewer, session: who.Session, topic: about, hub: h, onEnd: onEnd,
		items: make(chan *Item, BufferSize),
	}
	if !h.add(s) {
		s.end(ErrClosed)
		return s.items
	}
	context.AfterFunc(ctx, func() { s.end(nil) })
	return s.items
}

// deliver never waits: a subscription whose queue is full is ended, so that the subscriber knows to
// read what it missed.
func (s *Subscription) deliver(item *Item) {
	s.mu.Lock()
	if s.ended {
		s.mu.Unlock()
		return
	}
	select {
	case s.items <- item:
		s.mu.Unlock()
	default:
		s.mu.Unlock()
		s.end(ErrTooSlow)
	}
}

// end closes the subscription once; a nil reason means that its subscriber ended it.
func (s *Subscription) end(reason error) {
	s.hub.remove(s)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return
	}
	s.ended = true
	if reason != nil {
		s.onEnd(reason)
	}
	close(s.items)
}

func (h *Hub) add(s *Subscription) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return false
	}
	if h.topics[s.topic] == nil {
		h.topics[s.topic] = map[*Subscription]struct{}{}
	}
	h.topics[s.topic][s] = struct{}{}
	return true
}

func (h *Hub) remove(s *Subscription) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.topics[s.topic], s)
	if len(h.topics[s.topic]) == 0 {
		delete(h.topics, s.topic)
	}
}

func (h *Hub) subscribers(about topic) []*Subscription {
	h.mu.Lock()
	defer h.mu.Unlock()
	subscriptions := make([]*Subscription, 0, len(h.topics[about]))
	for s := range h.topics[about] {
		subscriptions = append(subscriptions, s)
	}
	return subscriptions
}

// Subscriptions returns the number of subscriptions on this server.
func (h *Hub) Subscriptions() int {
	return len(h.matching(func(*Subscription) bool { return true }))
}

// matching finds subscriptions across topics.
func (h *Hub) matching(match func(*Subscription) bool) []*Subscription {
	h.mu.Lock()
	defer h.mu.Unlock()
	var found []*Subscription
	for _, subscriptions := range h.topics {
		for s := range subscriptions {
			if match(s) {
				found = append(found, s)
			}
		}
	}
	return found
}

func (h *Hub) end(subscriptions []*Subscription, reason error) {
	for _, s := range subscriptions {
		s.end(reason)
	}
}

func (h *Hub) endAll(reason error) {
	h.end(h.matching(func(*Subscription) bool { return true }), reason)
}

// EndSession ends a session's subscriptions and sockets on this server. Other servers learn of it
// from the event log.
func (h *Hub) EndSession(session [32]byte) {
	defer h.sessionEnded(session)
	h.end(h.matching(func(s *Subscription) bool { return s.session == session }), ErrSessionEnded)
}

func (h *Hub) close() {
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	h.endAll(ErrClosed)
}
