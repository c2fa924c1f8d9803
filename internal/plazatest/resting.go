package plazatest

import (
	"context"

	"plaza/social"
	"plaza/storage"
)

// Resting is a store whose background work can be stopped, so that the lists that layouts keep
// become outdated.
type Resting struct {
	storage.Store

	Rest chan struct{}
}

// NewResting wraps a store. Its background work stops when Rest is closed.
func NewResting(st storage.Store) *Resting { return &Resting{Store: st, Rest: make(chan struct{})} }

// Work implements social.Worker.
func (s *Resting) Work(ctx context.Context) {
	working, stop := context.WithCancel(ctx)
	context.AfterFunc(ctx, stop)
	go func() {
		select {
		case <-s.Rest:
		case <-ctx.Done():
		}
		stop()
	}()
	s.Store.Work(working)
}

// Backlog implements social.Worker. Once the work has stopped, it reports no backlog, because
// waiting would be pointless.
func (s *Resting) Backlog(ctx context.Context) (social.Backlog, error) {
	select {
	case <-s.Rest:
		return social.Backlog{}, nil
	default:
		return s.Store.Backlog(ctx)
	}
}
