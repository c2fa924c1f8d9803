package live

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"sync"

	"plaza/social"
	"plaza/social/network"
)

// The errors with which a subscription ends, unless its subscriber ended it.
var (
	// ErrInterrupted means that the database does not answer. Subscribe again after the last item.
	ErrInterrupted = errors.New("the database does not answer")
	// ErrSessionEnded means that the subscriber's session is over: signed out, expired or removed.
	ErrSessionEnded = errors.New("the session has ended")
	// ErrClosed means that the server is shutting down.
	ErrClosed = errors.New("the server is shutting down")
)

// BufferSize is how many items are queued for a subscriber. A slower subscriber reads the other
// items from the database.
const BufferSize = 64

// Subscriber is a user and their session; the zero value is signed out.
type Subscriber struct {
	Viewer  social.UserID
	Client  string // of a subscriber who is signed out, as limits count clients; "": unknown
	Session [32]byte
	Issued  *social.Session // the session, if another site has issued its token
}

// A subscriber who catches up has many items, and sending each alone takes a fifth of the server's
// time. So they are sent together: up to updatesTogether, and no further one after bytesTogether.
const (
	updatesTogether = 32
	bytesTogether   = 16 << 10
)

// Receiver is the other end of a subscription. Its calls come one at a time.
type Receiver interface {
	// Await waits until the rate limits admit an item, and Admit reports whether they admit another
	// one now.
	Await()
	Admit() bool
	// Encoder returns a function that encodes items whose data was read together, one after another,
	// so that they may share what it reads for them.
	Encoder() func(item *Item) []byte
	// Send sends encoded items, in their order, if nothing was hidden in the meantime. It may
	// take as long as a slow subscriber needs.
	Send(texts ...[]byte)
	// End is the last call, unless the subscription's context has ended. The reason is one of this
	// package's errors.
	End(reason error)
}

// Subscription is one subscriber's bounded queue of updates. While the queue is empty it has no
// goroutine.
//
// A subscription either is live, and its updates come from the event log; or it is behind, and
// catches up with the entries that the list in the database has behind its position. Ids are in
// commit order (ADR 27), so a position is the id of a post or comment, and shows which updates were
// already queued.
type Subscription struct {
	*surroundings

	viewer   social.UserID
	client   string
	session  [32]byte
	issued   *social.Session
	topics   []topic
	watch    *watch // of changes of posts; nil for subscriptions to a list
	receiver Receiver
	ctx      context.Context
	paging   paging // only the goroutine that works on the queue uses it

	mu       sync.Mutex
	queue    []*update
	position social.Key // of the newest update that was queued; "": unknown
	behind   bool       // the queue is filled from the database
	ahead    []*update  // live updates that wait while it is behind
	missed   bool       // live updates may be missing in ahead
	running  bool       // a goroutine is working on the queue
	ended    bool       // nothing more is added to the queue
	dropped  bool       // nor is anything sent
	reason   error      // why it has ended; nil: its subscriber has ended it, or has received the reason
}

// surroundings are the parts of their hub that subscriptions need.
type surroundings struct {
	service *network.Service
	past    *past
	logger  *slog.Logger
	working sync.WaitGroup      // goroutines of subscriptions
	removed func(*Subscription) // called when a subscription has ended
}

// isOf reports whether the subscription belongs to a session, or to a token of an identity.
func (s *Subscription) isOf(session [32]byte) bool {
	return s.session == session || s.issued != nil && s.issued.Identity == session
}

func (s *Subscription) reader() reader { return reader{s.viewer, s.client} }

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

// push queues a live update, unless it was already read from the database. The caller holds s.mu.
func (s *Subscription) push(u *update) {
	if u.key <= s.position {
		u.received(s.viewer)
		return
	}
	s.queue, s.position = append(s.queue, u), u.key
	s.run()
}

// end closes the subscription once; a nil reason means that its subscriber ended it. Otherwise the
// subscriber receives the queued updates, unless the session has ended, and then the reason.
func (s *Subscription) end(reason error) {
	defer s.removed(s) // last, because a hub that stops waits for the goroutines of its subscriptions
	s.mu.Lock()
	defer s.mu.Unlock()
	if reason == nil {
		s.reason = nil
	}
	if reason == nil || errors.Is(reason, ErrSessionEnded) {
		s.queue, s.dropped = nil, true
	}
	if s.ended {
		return
	}
	s.ended, s.reason, s.ahead = true, reason, nil
	s.run()
}

// run starts a goroutine that works on the queue, unless there is one. The caller holds s.mu.
func (s *Subscription) run() {
	if !s.running {
		s.running = true
		s.working.Go(s.work)
	}
}

// work sends the queued updates.
func (s *Subscription) work() {
	for {
		updates, behind, reason := s.next()
		switch {
		case behind:
			if err := guarded(s.catchUp); err != nil {
				s.giveUp(err)
			}
		case len(updates) > 0:
			if unread, err := s.send(updates); err != nil {
				s.lose(unread, err)
			}
		case reason != nil:
			s.receiver.End(reason)
		default:
			return
		}
	}
}

// lose ends a subscription whose update could not be read. It drops the updates that are queued
// behind it: a subscriber who resumes after one of those would never get the lost one.
func (s *Subscription) lose(u *update, err error) {
	if u.ctx.Err() == nil {
		u.logUnseen(s.logger, err)
	}
	s.mu.Lock()
	s.queue = nil
	s.mu.Unlock()
	s.end(ErrInterrupted)
}

// next takes the updates from the queue. After the last one it reports whether the subscription is
// behind, or returns the reason for its end. If neither is the case, the goroutine's work is done.
func (s *Subscription) next() (updates []*update, behind bool, reason error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queue) > 0 && (s.watch == nil || !s.behind || !s.watch.isSilent()) { // only changes to what the subscriber has are sent
		n := min(len(s.queue), updatesTogether)
		if s.watch != nil { // a newer change may still replace a queued one
			n = 1
		}
		updates, s.queue = s.queue[:n:n], s.queue[n:]
		return updates, false, nil
	}
	if s.behind && !s.ended {
		return nil, true, nil
	}
	s.queue = nil
	reason, s.reason = s.reason, nil
	s.running = reason != nil
	return nil, false, reason
}

// send sends updates in their order, without those that the subscriber may no longer see. After an
// error it returns the update that could not be read.
func (s *Subscription) send(updates []*update) (unread *update, err error) {
	b := &batch{left: updates, together: len(updates)}
	defer func() { s.received(b.left) }()
	for len(b.left) > 0 && !s.isDropped() {
		first := b.left[0]
		if err := guarded(func() error { return s.sendSome(b) }); err != nil {
			if len(b.left) > 0 {
				first = b.left[0]
			}
			return first, err
		}
	}
	return nil, nil
}

func (s *Subscription) received(updates []*update) {
	for _, u := range updates {
		u.received(s.viewer)
	}
}

func (s *Subscription) isDropped() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dropped
}

// batch are updates that are being sent.
type batch struct {
	left     []*update
	together int // how many are sent together
	admitted int // how many the rate limits have admitted
	retries  int // how often the first one was encoded and not sent
}

// sendSome sends the first updates of a batch together, as many as the rate limits admit. If
// something may have been hidden from the subscriber while they were being encoded, it sends
// nothing: they are encoded again.
func (s *Subscription) sendSome(b *batch) error {
	before := s.service.Hidings()
	e, err := s.encodeSome(b)
	if s.service.HaveHidden(before, s.viewer) {
		s.retry(b)
		return nil
	}
	s.received(b.left[:e.updates]) // a slow subscriber must not keep what they were made of
	b.left, b.admitted, b.retries = b.left[e.updates:], b.admitted-e.updates, 0
	s.sendEncoded(e)
	return err
}

// retry prepares for encoding the first updates of a batch again: one at a time, which takes so
// little time that it succeeds also while much is being hidden. All further attempts are charged,
// because an update that takes long to encode may need many.
func (s *Subscription) retry(b *batch) {
	b.together = 1
	if b.retries++; b.retries > 1 {
		s.receiver.Await()
	}
}

func (s *Subscription) encodeSome(b *batch) (e *encoded, err error) {
	e = &encoded{}
	for e.updates < min(b.together, len(b.left)) && e.size < bytesTogether && (e.updates < b.admitted || s.admits(e.updates)) {
		b.admitted = max(b.admitted, e.updates+1)
		if err := s.encode(b.left[e.updates], e); err != nil {
			return e, err
		}
		e.updates++
	}
	return e, nil
}

// admits reports whether the rate limits admit the nth item now. For the first one it waits until they
// do.
func (s *Subscription) admits(n int) bool {
	if n > 0 {
		return s.receiver.Admit()
	}
	s.receiver.Await()
	return true
}

// encoded are items to send together.
type encoded struct {
	updates int // also those that the subscriber may not see
	items   []*Item
	texts   [][]byte
	size    int                // of the texts, in bytes
	encode  func(*Item) []byte // for those that were read with the last item
}

// encode adds an update, unless the subscriber may not see it.
func (s *Subscription) encode(u *update, to *encoded) error {
	item := &Item{Event: Gap}
	if u != gap {
		seen, err := u.current(s.viewer)
		if err != nil {
			return err
		}
		item = u.item(seen, s.viewer)
		if s.watch != nil {
			item = s.watch.item(u, item)
		}
	}
	if item == nil {
		return nil
	}
	if len(to.items) == 0 || !item.isReadWith(to.items[len(to.items)-1]) {
		to.encode = s.receiver.Encoder()
	}
	text := to.encode(item)
	to.items, to.texts, to.size = append(to.items, item), append(to.texts, text), to.size+len(text)
	return nil
}

func (s *Subscription) sendEncoded(e *encoded) {
	if len(e.texts) == 0 {
		return
	}
	if s.watch != nil {
		for _, item := range e.items { // not used after Send has begun, which may take long
			s.watch.sent(item)
		}
	}
	s.receiver.Send(e.texts...)
}

// queueChange queues a change. If a change of the same post or comment is queued, the new one
// replaces it if it is newer, and is dropped otherwise. If too many comments have changed, a gap
// replaces all their changes.
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

// viewersOf returns the viewers of subscriptions.
func viewersOf(subscriptions []*Subscription) iter.Seq[social.UserID] {
	return func(yield func(social.UserID) bool) {
		for _, s := range subscriptions {
			if !yield(s.viewer) {
				return
			}
		}
	}
}
