package adserver

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"plaza/ads"
)

const (
	// clickWait is how long a visitor who has clicked waits for the database, so that nearly all
	// clicks are durable before the visitor moves on.
	clickWait = 250 * time.Millisecond
	// clickTries is for how long a server retries to store a click that the database does not
	// accept.
	clickTries = time.Minute
	clickPause = 100 * time.Millisecond
	// maxKept is how many clicks a server keeps in memory. Each takes about a kilobyte.
	maxKept = 10_000
)

// clickKeeper stores clicks outside of their requests. A click that the database does not accept is
// kept in memory and retried. It is lost if the retries fail for too long, if too many clicks are
// kept, or if the server is killed meanwhile.
type clickKeeper struct {
	store ads.Recorder
	done  func(*ads.Recording) // called for each recording once it is stored
	spawn func(func())
	kept  chan struct{} // holds an element for each click that is kept

	life context.Context //nolint:containedctx // of the attempts, which outlive requests
	end  context.CancelFunc

	mu     sync.Mutex
	lost   int64
	reason error // why the last click was lost
}

func newClickKeeper(store ads.Recorder, done func(*ads.Recording), spawn func(func())) *clickKeeper {
	k := &clickKeeper{store: store, done: done, spawn: spawn, kept: make(chan struct{}, maxKept)}
	k.life, k.end = context.WithCancel(context.Background()) //nolint:gosec // finish ends it
	return k
}

var errTooManyClicks = errors.New("too many clicks wait for the database")

// keep stores a click in the background. It returns a channel that is closed once the click is
// stored or lost.
func (k *clickKeeper) keep(r ads.Recording) <-chan struct{} {
	ended := make(chan struct{})
	select {
	case k.kept <- struct{}{}:
	default:
		k.lose(errTooManyClicks)
		close(ended)
		return ended
	}
	k.spawn(func() {
		defer close(ended)
		defer func() { <-k.kept }()
		if err := k.try(&r); err != nil {
			k.lose(err)
		}
	})
	return ended
}

// try stores a click, and retries while the database is unavailable.
func (k *clickKeeper) try(r *ads.Recording) error {
	ctx, cancel := context.WithTimeout(k.life, clickTries)
	defer cancel()
	for pause := clickPause; ; pause *= 2 {
		_, err := k.store.Record(ctx, *r)
		if err == nil {
			k.done(r)
			return nil
		}
		if !errors.Is(err, ads.ErrUnavailable) {
			return err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return err
		}
	}
}

func (k *clickKeeper) lose(reason error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.lost++
	k.reason = reason
}

func (k *clickKeeper) losses() (lost int64, reason error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.lost, k.reason
}

// drain waits until no clicks are kept, and accepts no more. When ctx ends, the remaining clicks
// are lost.
func (k *clickKeeper) drain(ctx context.Context) {
	stop := context.AfterFunc(ctx, k.end)
	defer stop()
	for range cap(k.kept) {
		k.kept <- struct{}{}
	}
}

// LostClicks returns how many clicks this server could not store. They are not counted anywhere.
func (s *Service) LostClicks() int64 {
	lost, _ := s.clicks.losses()
	return lost
}

// newlyLost returns an error if clicks were lost since the last call.
func (s *Service) newlyLost(context.Context) error {
	lost, reason := s.clicks.losses()
	if before := s.reportedLost.Swap(lost); lost > before {
		return fmt.Errorf("%d clicks were lost: %w", lost-before, reason)
	}
	return nil
}

// Drain stores the clicks that this server keeps in memory, and finishes the counting that is under
// way. When ctx ends, the remaining clicks are lost. Call it once, when no more clicks can arrive.
// It returns an error if clicks were lost that Work has not reported yet.
func (s *Service) Drain(ctx context.Context) error {
	s.clicks.drain(ctx)
	s.counting.drain()
	return s.newlyLost(ctx)
}
