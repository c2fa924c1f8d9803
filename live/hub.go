package live

import (
	"context"
	"errors"
	"log/slog"
	"sync"

	"plaza/social"
	"plaza/social/network"
)

// Hub delivers events to this server's subscribers. For each event it finds the subscribers who may
// see it, in one batch.
type Hub struct {
	surroundings

	log          social.EventLog
	sessionEnded func(tokenHash [32]byte)
	registry     *registry
	changes      changes
}

// New creates a hub. It calls sessionEnded for each session that ended by signing out on any
// server, and for each session with subscriptions on this server that ended in another way.
func New(service *network.Service, log social.EventLog, logger *slog.Logger, sessionEnded func(tokenHash [32]byte)) *Hub {
	subscriptions := newRegistry()
	return &Hub{
		surroundings: surroundings{service: service, past: newPast(service), logger: logger, removed: subscriptions.remove},
		log:          log,
		sessionEnded: sessionEnded,
		registry:     subscriptions,
		changes:      changes{service: service, registry: subscriptions, merging: map[social.PostID]bool{}},
	}
}

// Open starts to follow the event log: subscribers receive what is committed after Open has
// returned. While the database does not answer (social.ErrUnavailable), the hub tries again. When
// ctx ends, the hub stops, ends all subscriptions, and closes done.
func (h *Hub) Open(ctx context.Context) (done <-chan struct{}, err error) {
	stream, err := h.log.Tail(ctx, "")
	if err != nil && !errors.Is(err, social.ErrUnavailable) {
		return nil, err
	}
	f := &follower{h.log, h.logger, h.dispatch, h.allFallBehind}
	stopped := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() { h.sessions().run(ctx) })
	go func() {
		defer close(stopped)
		if stream == nil {
			stream = f.reopen(ctx, "")
		}
		f.run(ctx, stream)
		watching.Wait()
		h.close()
		h.working.Wait()
	}()
	return stopped, nil
}

// allFallBehind makes all subscriptions read what they missed. Something may have been hidden in
// the meantime, so queued updates are checked again.
func (h *Hub) allFallBehind() {
	h.service.MayHaveHidden()
	for _, s := range h.registry.matching(everyone) {
		s.fallBehind("")
	}
}

// dispatch delivers an event. If that panics, subscriptions read from the database what they missed.
func (h *Hub) dispatch(ctx context.Context, e social.Event) {
	err := guarded(func() error {
		h.deliver(ctx, e)
		return nil
	})
	if err != nil {
		h.logger.ErrorContext(ctx, "an event could not be delivered", "error", err, "kind", string(e.Kind), "event", e.ID.String())
		h.allFallBehind()
	}
}

func (h *Hub) deliver(ctx context.Context, e social.Event) {
	h.service.Noted(e)
	h.changes.tell(ctx, e)
	switch e.Kind {
	case social.EventPostCreated:
		h.tell(ctx, topic{}, e)
		h.tell(ctx, topic{kind: ofIncoming}, e)
		h.tell(ctx, topic{kind: ofWall, user: e.Target}, e)
	case social.EventCommentAdded:
		h.tell(ctx, topic{kind: ofThread, post: e.Post}, e)
	case social.EventNotified:
		for _, s := range h.registry.subscribers(topic{kind: ofNotifications, user: e.Target}) {
			s.fallBehind("")
		}
	case social.EventSessionEnded:
		h.EndSession(e.Session)
	default: // not relevant to subscribers
	}
}

// tell delivers an event to the subscribers of a topic who may see it.
func (h *Hub) tell(ctx context.Context, about topic, e social.Event) {
	subscriptions := h.registry.subscribers(about)
	if len(subscriptions) == 0 {
		return
	}
	u := newUpdate(ctx, h.service, keyOf(e.Post, e.Comment), viewersOf(subscriptions), about.viewersOf(h.service, e.Post, e.Comment))
	seen, err := u.current(social.UserID{})
	if err != nil {
		if ctx.Err() == nil {
			u.logUnseen(h.logger, err)
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

// Subscriptions returns the number of subscriptions on this server.
func (h *Hub) Subscriptions() int {
	return len(h.registry.matching(everyone))
}

func (h *Hub) end(subscriptions []*Subscription, reason error) {
	for _, s := range subscriptions {
		s.end(reason)
	}
}

func (h *Hub) endAll(reason error) {
	h.end(h.registry.matching(everyone), reason)
}

// EndSession ends the subscriptions and sockets of a session, or of all tokens of an identity, on
// this server. Other servers learn of it from the event log.
func (h *Hub) EndSession(session [32]byte) {
	defer h.sessionEnded(session)
	h.end(h.registry.matching(func(s *Subscription) bool { return s.isOf(session) }), ErrSessionEnded)
}

// EndOldSessions does what EndSession does, for each session of a user that is no longer valid and
// has a subscription on this server. Call it after a change that has ended sessions: the event log
// reports them, too, but only after the answer.
func (h *Hub) EndOldSessions(ctx context.Context, user social.UserID) {
	h.sessions().endOld(ctx, func(s *Subscription) bool { return s.viewer == user })
}

func (h *Hub) sessions() *sessionWatch {
	return &sessionWatch{h.service, h.registry, h.logger, h.EndSession}
}

func (h *Hub) close() {
	h.registry.close()
	h.endAll(ErrClosed)
}
