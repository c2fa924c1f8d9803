package ads

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

const (
	// clickWait is how long a visitor who has clicked waits for the database, so that nearly all clicks are durable before the visitor moves on.
	clickWait = 250 * time.Millisecond
	// clickTries is for how long a server tries to store a click that the database does not take.
	clickTries = time.Minute
	clickPause = 100 * time.Millisecond
	// maxKept is how many clicks a server keeps in memory, of about a kilobyte each.
	maxKept = 10_000
)

// clickKeeper stores clicks beside the requests that they come with. A click that the database does not take is kept in memory, and tried
// again; it is lost where that lasts too long, where too many are kept, and when the server is killed meanwhile.
type clickKeeper struct {
	store Recorder
	done  func(*Recording) // called for each recording that is stored
	spawn func(func())
	kept  chan struct{} // has an element for each click that is kept

	life context.Context //nolint:containedctx // of the attempts, which outlive requests
	end  context.CancelFunc

	mu     sync.Mutex
	lost   int64
	reason error // why the last one was
}

func newClickKeeper(store Recorder, done func(*Recording), spawn func(func())) *clickKeeper {
	k := &clickKeeper{store: store, done: done, spawn: spawn, kept: make(chan struct{}, maxKept)}
	k.life, k.end = context.WithCancel(context.Background()) //nolint:gosec // finish ends it
	return k
}

var errTooManyClicks = errors.New("too many clicks wait for the database")

// keep stores a click. The channel is closed when it is stored, or lost.
func (k *clickKeeper) keep(r Recording) <-chan struct{} {
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

// try stores a click as soon as the database takes it.
func (k *clickKeeper) try(r *Recording) error {
	ctx, cancel := context.WithTimeout(k.life, clickTries)
	defer cancel()
	for pause := clickPause; ; pause *= 2 {
		_, err := k.store.Record(ctx, *r)
		if err == nil {
			k.done(r)
			return nil
		}
		if !errors.Is(err, ErrUnavailable) {
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

// drain waits until no click is kept, and takes no more. When ctx ends those that are left are lost.
func (k *clickKeeper) drain(ctx context.Context) {
	stop := context.AfterFunc(ctx, k.end)
	defer stop()
	for range cap(k.kept) {
		k.kept <- struct{}{}
	}
}

// LostClicks is how many clicks this server could not store: they are counted nowhere.
func (s *Service) LostClicks() int64 {
	lost, _ := s.clicks.losses()
	return lost
}

// newlyLost is an error where clicks were lost since the last call.
func (s *Service) newlyLost(context.Context) error {
	lost, reason := s.clicks.losses()
	if before := s.toldLost.Swap(lost); lost > before {
		return fmt.Errorf("%d clicks were lost: %w", lost-before, reason)
	}
	return nil
}

// Drain stores the clicks that this server keeps in memory, and ends the counting that is under way. When ctx ends, the clicks that are left are lost.
// It is called once, when no more clicks come. Error: clicks were lost since Work has said so.
func (s *Service) Drain(ctx context.Context) error {
	s.clicks.drain(ctx)
	s.counting.drain()
	return s.newlyLost(ctx)
}
