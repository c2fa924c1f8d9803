package live

import (
	"cmp"
	"context"
	"sync"
	"time"

	"plaza/social"
	"plaza/social/network"
)

const (
	// firstPage is how many entries of a list a subscription that catches up reads first. Each further
	// page has as many as would have fitted, but at most twice as many, and at most largestPage.
	firstPage   = 32
	largestPage = 200
	// pageBytes limits what a subscription keeps of a page, roughly. It reads the rest again when its
	// subscriber has received these entries, because they wait for as long as a slow one needs.
	pageBytes = 128 << 10
	// pastTimeout limits one such read.
	pastTimeout = 30 * time.Second
	// pastReaders limits how many subscriptions read at the same time, on each server: after a
	// restart all of them catch up. readersOfOne limits those of one reader, because all others wait.
	pastReaders  = 8
	readersOfOne = 2
)

// paging sizes the pages of a subscription that catches up.
type paging struct{ entries int }

func (p *paging) limit() int { return cmp.Or(p.entries, firstPage) }

// keep returns how many of n entries are kept, at least one, and chooses the size of the next page.
func (p *paging) keep(n int, size func(i int) int) int {
	kept, total := 0, 0
	for ; kept < n; kept++ {
		total += size(kept)
		if total > pageBytes && kept > 0 {
			p.entries = kept
			return kept
		}
	}
	fitting := p.limit() * pageBytes / max(total, 1)
	p.entries = max(min(fitting, 2*p.limit(), largestPage), 1)
	return n
}

// reader is the one whose subscriptions share turns: a user, or a client that is signed out.
type reader struct {
	viewer social.UserID
	client string
}

// past reads what subscriptions have missed, for a limited number of them at a time.
type past struct {
	service *network.Service
	turns   chan struct{} // one for each subscription that reads

	mu  sync.Mutex
	own map[reader]*ownTurns // of those with a subscription that reads, or waits for a turn
}

// ownTurns are what a reader's subscriptions wait for before they wait for a turn. So a reader with
// thousands of subscriptions delays others as little as one with a few.
type ownTurns struct {
	turns   chan struct{}
	readers int // subscriptions that read or wait
}

func newPast(service *network.Service) *past {
	return &past{service: service, turns: make(chan struct{}, pastReaders), own: map[reader]*ownTurns{}}
}

// turn waits until a subscription of a reader may read the past.
func (p *past) turn(ctx context.Context, of reader) (limited context.Context, done func(), err error) {
	own := p.join(of)
	if err := take(ctx, own.turns); err != nil {
		p.leave(of)
		return nil, nil, err
	}
	if err := take(ctx, p.turns); err != nil {
		<-own.turns
		p.leave(of)
		return nil, nil, err
	}
	limited, cancel := context.WithTimeout(ctx, pastTimeout)
	return limited, func() {
		cancel()
		<-p.turns
		<-own.turns
		p.leave(of)
	}, nil
}

func take(ctx context.Context, turns chan<- struct{}) error {
	select {
	case turns <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (p *past) join(of reader) *ownTurns {
	p.mu.Lock()
	defer p.mu.Unlock()
	own := p.own[of]
	if own == nil {
		own = &ownTurns{turns: make(chan struct{}, readersOfOne)}
		p.own[of] = own
	}
	own.readers++
	return own
}

func (p *past) leave(of reader) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.own[of].readers--; p.own[of].readers == 0 {
		delete(p.own, of)
	}
}

// read reads the entries that a topic's list has behind a position.
func (p *past) read(ctx context.Context, of reader, about topic, after social.Key, limit int) (network.Past, error) {
	ctx, done, err := p.turn(ctx, of)
	if err != nil {
		return network.Past{}, err
	}
	defer done()
	switch about.kind {
	case ofThread:
		return p.service.CommentsSince(ctx, of.viewer, about.post, after, limit)
	case ofWall:
		return p.service.WallSince(ctx, of.viewer, about.user, after, limit)
	case ofIncoming:
		return p.service.IncomingSince(ctx, of.viewer, after, limit)
	case ofNotifications:
		return p.service.NotificationsSince(ctx, of.viewer, after, limit)
	default:
		return p.service.NewsSince(ctx, of.viewer, after, limit)
	}
}
