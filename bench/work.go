package bench

import (
	"context"

	"plaza/social"
)

// settle does all background work that is left, and nothing else.
func settle(ctx context.Context, store social.Worker) error {
	working, rest := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		store.Work(working)
	}()
	defer func() { rest(); <-done }()
	return social.Settle(ctx, store)
}
