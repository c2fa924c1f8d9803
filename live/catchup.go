package live

import (
	"plaza/social"
	"plaza/social/network"
)

// catchUp queues a page of the past, or as much of it as fits. After the last page it queues the
// live updates that have waited, and the subscription is live again.
func (s *Subscription) catchUp() error {
	if s.watch != nil {
		return s.look()
	}
	s.mu.Lock()
	s.missed = false // updates that are missed from now on may be missing on the page
	after := s.position
	at := &moment{s.service.Hidings()}
	s.mu.Unlock()
	past, err := s.past.read(s.ctx, s.reader(), s.topics[0], after, s.paging.limit())
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return nil
	}
	n := s.paging.keep(len(past.Seen), func(i int) int { return sizeOf(&past.Seen[i]) })
	for i := range past.Seen[:n] {
		s.queue = append(s.queue, newPastUpdate(s.ctx, s.service, s.viewer, s.topics[0], past.Seen[i], after, at))
	}
	if n < len(past.Seen) {
		s.position = s.queue[len(s.queue)-1].key
		return nil
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
	s.logger.ErrorContext(s.ctx, "a subscription cannot catch up", "error", err)
	s.end(ErrInterrupted)
}

// goLive requires that s.mu is held. The updates that waited may be on the pages that were read.
func (s *Subscription) goLive() {
	ahead := s.ahead
	s.behind, s.ahead = false, nil
	for _, u := range ahead {
		s.push(u)
	}
}

// fallBehind makes a subscription read what it missed: from its position, or, without a position,
// from just before an update that it was to receive. If there is neither, the missed updates are
// unknown, and the subscriber gets a Gap.
func (s *Subscription) fallBehind(before social.Key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.ended:
		return
	case s.watch != nil:
		s.watch.readAgain()
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

// predecessor returns the greatest key of the same length that sorts before the key of an id, which
// is not zero.
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

// look reads the next posts of a watch that it has not read yet, and queues them, unless it is the
// first look of a silent watch.
func (s *Subscription) look() error {
	s.mu.Lock()
	posts, more := s.watch.next(s.paging.limit())
	s.behind = more
	at := &moment{s.service.Hidings()}
	s.mu.Unlock()
	ctx, done, err := s.past.turn(s.ctx, s.reader())
	if err != nil {
		return err
	}
	defer done()
	seen, err := s.service.PostsSeen(ctx, s.viewer, posts)
	if err != nil || s.watch.notes(seen) {
		return err
	}
	found := make(map[social.PostID]network.Sighting, len(seen))
	for _, g := range seen {
		found[g.Post.ID] = g
	}
	n := s.paging.keep(len(posts), func(i int) int { g := found[posts[i]]; return sizeOf(&g) })
	for i, post := range posts {
		u := newChange(s.ctx, s.service, post, viewersOf([]*Subscription{s}))
		if i < n { // the others are read again when they are sent
			u.seen = newSighting(found[post], at)
		}
		s.queueChange(u, false)
	}
	return nil
}
