package live

import (
	"context"
	"time"

	"plaza/social"
	"plaza/social/network"
)

const (
	// pastPage is how many entries of a list a subscription that catches up reads at a time.
	pastPage = 100
	// pastTimeout limits one such read.
	pastTimeout = 30 * time.Second
	// pastReaders limits how many subscriptions read at the same time, on each server: after a
	// restart all of them catch up.
	pastReaders = 8
)

// reader waits until a subscription may read the past.
func (h *Hub) reader(ctx context.Context) (limited context.Context, done func(), err error) {
	select {
	case h.readers <- struct{}{}:
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
	limited, cancel := context.WithTimeout(ctx, pastTimeout)
	return limited, func() { cancel(); <-h.readers }, nil
}

// past reads what was added to a topic's list behind a position.
func (h *Hub) past(ctx context.Context, s *Subscription, after social.Key) (network.Past, error) {
	ctx, done, err := h.reader(ctx)
	if err != nil {
		return network.Past{}, err
	}
	defer done()
	about := s.topics[0]
	switch about.kind {
	case ofThread:
		return h.service.CommentsSince(ctx, s.viewer, about.post, after, pastPage)
	case ofWall:
		return h.service.WallSince(ctx, s.viewer, about.user, after, pastPage)
	case ofIncoming:
		return h.service.IncomingSince(ctx, s.viewer, after, pastPage)
	case ofNotifications:
		return h.service.NotificationsSince(ctx, s.viewer, after, pastPage)
	default:
		return h.service.NewsSince(ctx, s.viewer, after, pastPage)
	}
}

// catchUp queues a page of the past. After the last page it queues the live updates that have waited,
// and the subscription is live again.
func (s *Subscription) catchUp() error {
	if s.watch != nil {
		return s.look()
	}
	s.mu.Lock()
	s.missed = false // what is missed from now on may be missing on the page
	after := s.position
	hidings := s.hub.service.Hidings()
	s.mu.Unlock()
	past, err := s.hub.past(s.ctx, s, after)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return nil
	}
	for i := range past.Seen {
		s.queue = append(s.queue, s.hub.newPastUpdate(s, &past.Seen[i], after, hidings))
	}
	s.position = past.Last
	if !past.More && !s.missed {
		s.goLive()
	}
	return nil
}

// giveUp ends a subscription that could not read the past, unless its subscriber has ended it.
func (s *Subscription) giveUp(err error) {
	if s.ctx.Err() != nil {
		s.end(nil)
		return
	}
	s.hub.logger.ErrorContext(s.ctx, "a subscription cannot catch up", "error", err)
	s.end(ErrInterrupted)
}

// goLive is called with s.mu held. The updates that waited may be on the pages that were read.
func (s *Subscription) goLive() {
	ahead := s.ahead
	s.behind, s.ahead = false, nil
	for _, u := range ahead {
		s.push(u)
	}
}

// fallBehind makes a subscription read what it missed: from its position, or without one from just
// before an update that it was to receive. If there is neither, nobody knows what it missed, and the
// subscriber gets a Gap.
func (s *Subscription) fallBehind(before social.Key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.ended:
		return
	case s.watch != nil:
		s.watch.expectAll()
	case s.position != "" || s.behind:
	case before != "":
		s.position = predecessor(before)
	default:
		s.queue = append(s.queue, gap)
		s.run()
		return
	}
	s.behind, s.missed = true, true
	s.run()
}

// predecessor is the greatest key of its length below an id that is not zero.
func predecessor(key social.Key) social.Key {
	bytes := []byte(key)
	for i := len(bytes) - 1; i >= 0; i-- {
		bytes[i]--
		if bytes[i] != 0xff {
			break
		}
	}
	return social.Key(bytes)
}
