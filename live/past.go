package live

import (
	"context"
	"time"

	"plaza/social"
	"plaza/social/network"
)

const (
	// pastPage is how many entries of a list a subscription that catches up reads at a time.
	pastPage = 200
	// pastTimeout limits one such read.
	pastTimeout = 30 * time.Second
	// pastReaders limits how many subscriptions read at the same time, on each server: after a
	// restart all of them catch up.
	pastReaders = 8
)

// past reads what subscriptions have missed, for a limited number of them at a time.
type past struct {
	service *network.Service
	turns   chan struct{} // one for each subscription that reads
}

func newPast(service *network.Service) *past {
	return &past{service: service, turns: make(chan struct{}, pastReaders)}
}

// turn waits until a subscription may read the past.
func (p *past) turn(ctx context.Context) (limited context.Context, done func(), err error) {
	select {
	case p.turns <- struct{}{}:
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
	limited, cancel := context.WithTimeout(ctx, pastTimeout)
	return limited, func() { cancel(); <-p.turns }, nil
}

// read reads the entries that a topic's list has behind a position.
func (p *past) read(ctx context.Context, viewer social.UserID, about topic, after social.Key) (network.Past, error) {
	ctx, done, err := p.turn(ctx)
	if err != nil {
		return network.Past{}, err
	}
	defer done()
	switch about.kind {
	case ofThread:
		return p.service.CommentsSince(ctx, viewer, about.post, after, pastPage)
	case ofWall:
		return p.service.WallSince(ctx, viewer, about.user, after, pastPage)
	case ofIncoming:
		return p.service.IncomingSince(ctx, viewer, after, pastPage)
	case ofNotifications:
		return p.service.NotificationsSince(ctx, viewer, after, pastPage)
	default:
		return p.service.NewsSince(ctx, viewer, after, pastPage)
	}
}
