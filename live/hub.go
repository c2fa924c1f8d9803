// Package live follows the event log, and notifies the subscribers of this server of what they may
// see.
package live

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"plaza/social"
	"plaza/social/network"
)

// The errors with which a subscription ends, unless its subscriber ended it.
var (
	// ErrInterrupted: the database does not answer. Subscribe again after the last item.
	ErrInterrupted = errors.New("the database does not answer")
	// ErrSessionEnded: the subscriber's session is over: signed out, expired or removed.
	ErrSessionEnded = errors.New("the session has ended")
	// ErrClosed: the server is shutting down.
	ErrClosed = errors.New("the server is shutting down")
)

// BufferSize is how many items are queued for a subscriber. Whoever is slower reads the others from
// the database.
const BufferSize = 64

// Hub delivers events to this server's subscribers. For each event it checks which subscribers may
// see what is new, in one batch.
type Hub struct {
	service      *network.Service
	log          social.EventLog
	logger       *slog.Logger
	sessionEnded func(tokenHash [32]byte)

	working sync.WaitGroup // goroutines of subscriptions
	readers chan struct{}  // one for each subscription that reads what it missed

	mu      sync.Mutex
	closed  bool
	all     map[*Subscription]struct{}
	topics  map[topic]map[*Subscription]struct{}
	merging map[social.PostID]bool // posts of which a change was told a moment ago, and whether there is another
}

// topic is what the subscribers of an event have in common. The zero value is the news of any viewer.
type topic struct {
	kind topicKind
	post social.PostID
	user social.UserID
}

type topicKind int

const (
	ofNews          topicKind = iota
	ofIncoming                // posts that reach any viewer
	ofWall                    // posts on a wall
	ofThread                  // comments on a post, as they are written
	ofPost                    // changes of a post
	ofComments                // changes of the comments on a post
	ofNotifications           // a user's notifications
	ofRelations               // changes of posts, by a viewer's relations
	ofAllPosts                // changes of posts, by what an author does
)

// New creates a hub. It calls sessionEnded, on any server, for each session that ended by signing
// out, and on a server with subscriptions for each of their sessions that ended otherwise.
func New(service *network.Service, log social.EventLog, logger *slog.Logger, sessionEnded func(tokenHash [32]byte)) *Hub {
	return &Hub{
		service: service, log: log, logger: logger, sessionEnded: sessionEnded,
		all: map[*Subscription]struct{}{}, topics: map[topic]map[*Subscription]struct{}{}, merging: map[social.PostID]bool{},
		readers: make(chan struct{}, pastReaders),
	}
}

// Open starts to follow the event log: subscribers receive what is committed after Open has
// returned. While the database does not answer (social.ErrUnavailable), the hub tries again. When ctx ends, the hub stops and ends all
// subscriptions; then done is closed.
func (h *Hub) Open(ctx context.Context) (done <-chan struct{}, err error) {
	stream, err := h.log.Tail(ctx, "")
	if err != nil && !errors.Is(err, social.ErrUnavailable) {
		return nil, err
	}
	stopped := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() { h.watchSessions(ctx) })
	go func() {
		defer close(stopped)
		if stream == nil {
			stream = h.reopen(ctx, "")
		}
		h.follow(ctx, stream)
		watching.Wait()
		h.close()
		h.working.Wait()
	}()
	return stopped, nil
}

// follow reads the log until ctx ends, and reopens it when it breaks.
func (h *Hub) follow(ctx context.Context, stream social.EventStream) {
	for ctx.Err() == nil {
		err := h.read(ctx, stream)
		position := stream.Position()
		_ = stream.Close()
		if ctx.Err() != nil {
			return
		}
		h.logger.ErrorContext(ctx, "the event stream broke", "error", err)
		if errors.Is(err, social.ErrPositionLost) {
			position = ""
		}
		stream = h.reopen(ctx, position)
	}
}

func (h *Hub) read(ctx context.Context, stream social.EventStream) error {
	for {
		e, err := stream.Next(ctx)
		if err != nil {
			return err
		}
		h.dispatch(ctx, e)
	}
}

// reopen retries with backoff until it succeeds or ctx ends. If the stream does not continue at the
// position, all subscriptions read what happened while there was none: nothing is skipped.
func (h *Hub) reopen(ctx context.Context, position string) social.EventStream {
	const slowest = 10 * time.Second
	for wait := 100 * time.Millisecond; ; wait = min(2*wait, slowest) {
		stream, err := h.log.Tail(ctx, position)
		if err == nil {
			if position == "" {
				h.allFallBehind()
			}
			return stream
		}
		if errors.Is(err, social.ErrPositionLost) {
			position = ""
		}
		h.logger.WarnContext(ctx, "the event stream cannot be opened", "error", err, "wait", wait)
		select {
		case <-ctx.Done():
			return closedStream{}
		case <-time.After(wait):
		}
	}
}

// allFallBehind makes all subscriptions read what they missed. Something may have been hidden meanwhile,
// so what is queued is checked again.
func (h *Hub) allFallBehind() {
	h.service.MayHaveHidden()
	for _, s := range h.matching(everyone) {
		s.fallBehind("")
	}
}

// closedStream is followed if there is no time left to open a stream.
type closedStream struct{}

func (closedStream) Next(ctx context.Context) (social.Event, error) { return social.Event{}, ctx.Err() }
func (closedStream) Position() string                               { return "" }
func (closedStream) Close() error                                   { return nil }

func (h *Hub) dispatch(ctx context.Context, e social.Event) {
	h.service.Noted(e.Kind)
	h.dispatchChange(ctx, e)
	switch e.Kind {
	case social.EventPostCreated:
		h.tell(ctx, topic{}, e)
		h.tell(ctx, topic{kind: ofIncoming}, e)
		h.tell(ctx, topic{kind: ofWall, user: e.Target}, e)
	case social.EventCommentAdded:
		h.tell(ctx, topic{kind: ofThread, post: e.Post}, e)
	case social.EventNotified:
		for _, s := range h.subscribers(topic{kind: ofNotifications, user: e.Target}) {
			s.fallBehind("")
		}
	case social.EventSessionEnded:
		h.EndSession(e.Session)
	default: // not relevant to subscribers
	}
}

// viewersOf returns the look-up of those who see a new post or comment in the list of a topic.
func (h *Hub) viewersOf(about topic, post social.PostID, comment social.CommentID) func(context.Context, []social.UserID) (network.Sighting, error) {
	return func(ctx context.Context, viewers []social.UserID) (network.Sighting, error) {
		switch about.kind {
		case ofThread:
			return h.service.CommentViewers(ctx, comment, viewers)
		case ofWall:
			return h.service.WallViewers(ctx, post, viewers)
		case ofIncoming:
			return h.service.IncomingViewers(ctx, post, viewers)
		default:
			return h.service.NewsViewers(ctx, post, viewers)
		}
	}
}

// tell delivers an event to the subscribers of a topic who may see what it is about.
func (h *Hub) tell(ctx context.Context, about topic, e social.Event) {
	subscriptions := h.subscribers(about)
	if len(subscriptions) == 0 {
		return
	}
	u := h.newUpdate(ctx, &e, subscriptions, h.viewersOf(about, e.Post, e.Comment))
	seen, err := u.current()
	if err != nil {
		if ctx.Err() == nil {
			h.logUnseen(u, err)
			for _, s := range subscriptions {
				s.fallBehind(u.key)
			}
		}
		return
	}
	for _, s := range subscriptions {
		if _, sees := seen.Viewers[s.viewer]; sees {
			s.deliver(u)
		} else {
			u.received(s.viewer)
		}
	}
}

func (h *Hub) logUnseen(u *update, err error) {
	h.logger.ErrorContext(u.ctx, "cannot determine who may see an event", "error", err, "id", fmt.Sprintf("%x", u.key))
}
