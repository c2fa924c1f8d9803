package sqlite

import (
	"context"
	"log/slog"
	"time"

	"plaza/social"
)

// wakeWorker lets Work look for something to do.
func (s *Store) wakeWorker() {
	select {
	case s.left <- struct{}{}:
	default: // it will look anyway
	}
}

// Work implements social.Worker: it goes on with erasing comments where a call was broken off, also before this process began.
func (s *Store) Work(ctx context.Context) {
	const again = 10 * time.Second
	for ctx.Err() == nil {
		var retry <-chan time.Time
		if err := s.eraseAll(ctx); err != nil && ctx.Err() == nil {
			slog.WarnContext(ctx, "comments will be erased later", "error", err)
			retry = time.After(again)
		}
		select {
		case <-ctx.Done():
		case <-s.left:
		case <-retry:
		}
	}
}

// Backlog implements social.Worker.
func (s *Store) Backlog(ctx context.Context) (b social.Backlog, err error) {
	left, err := s.erasures(ctx)
	for _, of := range left {
		if b.Oldest.IsZero() || of.started.Before(b.Oldest) {
			b.Oldest = of.started
		}
	}
	b.Waiting = len(left)
	return b, err
}

// Revive implements social.Worker: nothing is ever given up.
func (s *Store) Revive(ctx context.Context) (int, error) { return 0, ctx.Err() }
