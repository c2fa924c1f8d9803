package live

import (
	"context"
	"errors"
	"sync"

	"plaza/social"
)

// Subscriber is a user and their session; the zero value is signed out.
type Subscriber struct {
	Viewer  social.UserID
	Session [32]byte
}

// Receiver is the other end of a subscription. Its calls come one at a time.
type Receiver interface {
	// Encode writes an item as it is sent.
	Encode(item *Item) []byte
	// Send sends what Encode has written, if nothing was hidden in the meantime. It may take as long
	// as a slow subscriber needs.
	Send(text []byte)
	// End is the last call, unless the subscription's context has ended. The reason is one of this
	// package's errors.
	End(reason error)
}

// Subscription is one subscriber's bounded queue of updates. While the queue is empty it has no
// goroutine.
//
// It is live, and its updates come from the event log; or it is behind, and catches up with what the
// list in the database has behind its position. Ids are in commit order (ADR 27), so a position is
// the id of a post or comment, and tells which updates were already queued.
type Subscription struct {
	viewer   social.UserID
	session  [32]byte
	topics   []topic
	watch    *watch // of changes of posts; nil: of a list
	hub      *Hub
	receiver Receiver
	ctx      context.Context

	mu       sync.Mutex
	queue    []*update
	position social.Key // of the newest update that was queued; "": unknown
	behind   bool       // the queue is filled from the database
	ahead    []*update  // live updates that wait while it is behind
	missed   bool       // live updates may be missing in ahead
	running  bool       // a goroutine is at work on the queue
	ended    bool       // nothing is added to the queue any more
	reason   error      // why it has ended; nil: its subscriber has ended it, or has been told
}

// News subscribes to the posts that appear in the subscriber's news, until ctx ends: those behind the
// post after, then those that are created. Without a key they begin now.
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

// Notifications subscribes to the subscriber's notifications, as they get acts, until ctx ends: those
// behind the position after, then new ones. It reads them when an event says that there are any, so it is never
// more than behind.
func (h *Hub) Notifications(ctx context.Context, who Subscriber, after social.Key, receiver Receiver) {
	h.subscribe(ctx, who, topic{kind: ofNotifications, user: who.Viewer}, after, receiver)
}

func (h *Hub) subscribe(ctx context.Context, who Subscriber, about topic, after social.Key, receiver Receiver) {
	h.begin(&Subscription{
		viewer: who.Viewer, session: who.Session, topics: []topic{about}, hub: h, receiver: receiver, ctx: ctx,
		position: after, behind: after != "",
	})
}

// begin registers a subscription. If it is behind, it starts to catch up.
func (h *Hub) begin(s *Subscription) {
	if !h.add(s) {
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

// deliver never waits: a subscription that has no room for an update reads it from the database
// later.
func (s *Subscription) deliver(u *update) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.ended:
		u.received(s.viewer)
	case !s.behind && len(s.queue) < BufferSize:
		s.push(u)
	case len(s.ahead) < BufferSize:
		s.behind = true
		s.ahead = append(s.ahead, u)
	default:
		s.ahead, s.missed = nil, true
		u.received(s.viewer)
	}
}

// push queues a live update, unless it was already read from the database. It is called with s.mu
// held.
func (s *Subscription) push(u *update) {
	if u.key <= s.position {
		u.received(s.viewer)
		return
	}
	s.queue, s.position = append(s.queue, u), u.key
	s.run()
}

// end closes the subscription once; a nil reason means that its subscriber ended it. Otherwise the
// subscriber receives what is in the queue, unless the session has ended, and then the reason.
func (s *Subscription) end(reason error) {
	defer s.hub.remove(s) // last: a hub that stops waits for the goroutines of the subscriptions that it has
	s.mu.Lock()
	defer s.mu.Unlock()
	if reason == nil {
		s.queue, s.reason = nil, nil
	}
	if errors.Is(reason, ErrSessionEnded) {
		s.queue = nil
	}
	if s.ended {
		return
	}
	s.ended, s.reason, s.ahead = true, reason, nil
	s.run()
}

// run starts a goroutine that works on the queue, unless there is one. It is called with s.mu held.
func (s *Subscription) run() {
	if !s.running {
		s.running = true
		s.hub.working.Go(s.work)
	}
}

// work sends what is in the queue.
func (s *Subscription) work() {
	for {
		u, behind, reason := s.next()
		switch {
		case behind:
			if err := s.catchUp(); err != nil {
				s.giveUp(err)
			}
		case u != nil:
			if err := s.send(u); err != nil {
				s.lose(u, err)
			}
		case reason != nil:
			s.receiver.End(reason)
		default:
			return
		}
	}
}

// lose ends a subscription whose update could not be read. What is queued behind it is dropped: a
// subscriber who resumes after that would never get the update.
func (s *Subscription) lose(u *update, err error) {
	if u.ctx.Err() == nil {
		s.hub.logUnseen(u, err)
	}
	s.mu.Lock()
	s.queue = nil
	s.mu.Unlock()
	s.end(ErrInterrupted)
}

// next takes an update from the queue. After the last one it says whether the subscription is
// behind, or gives the reason for the end. If there is neither, the goroutine's work is done.
func (s *Subscription) next() (u *update, behind bool, reason error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queue) > 0 && (!s.behind || s.watch == nil) { // changes are told only of what the subscriber has
		u, s.queue = s.queue[0], s.queue[1:]
		return u, false, nil
	}
	if s.behind && !s.ended {
		return nil, true, nil
	}
	s.queue = nil
	reason, s.reason = s.reason, nil
	s.running = reason != nil
	return nil, false, reason
}

// send sends an update, unless the subscriber may no longer see it. What was encoded while something
// was hidden is encoded again.
func (s *Subscription) send(u *update) error {
	if u == gap {
		s.receiver.Send(s.receiver.Encode(&Item{Event: Gap}))
		return nil
	}
	defer u.received(s.viewer)
	for {
		seen, err := u.current()
		if err != nil {
			return err
		}
		item := seen.item(u, s.viewer)
		if s.watch != nil {
			item = s.watch.item(u, item)
		}
		if item == nil {
			return nil
		}
		text := s.receiver.Encode(item)
		if seen.hidings == s.hub.service.Hidings() {
			s.receiver.Send(text)
			if s.watch != nil {
				s.watch.sent(item)
			}
			return nil
		}
	}
}

func (h *Hub) add(s *Subscription) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return false
	}
	h.all[s] = struct{}{}
	for _, about := range s.topics {
		if h.topics[about] == nil {
			h.topics[about] = map[*Subscription]struct{}{}
		}
		h.topics[about][s] = struct{}{}
	}
	return true
}

func (h *Hub) remove(s *Subscription) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.all, s)
	for _, about := range s.topics {
		delete(h.topics[about], s)
		if len(h.topics[about]) == 0 {
			delete(h.topics, about)
		}
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
	return len(h.matching(everyone))
}

// matching finds subscriptions of any topic.
func (h *Hub) matching(match func(*Subscription) bool) []*Subscription {
	h.mu.Lock()
	defer h.mu.Unlock()
	var found []*Subscription
	for s := range h.all {
		if match(s) {
			found = append(found, s)
		}
	}
	return found
}

func everyone(*Subscription) bool { return true }

func (h *Hub) end(subscriptions []*Subscription, reason error) {
	for _, s := range subscriptions {
		s.end(reason)
	}
}

func (h *Hub) endAll(reason error) {
	h.end(h.matching(everyone), reason)
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
