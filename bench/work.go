package bench

import (
	"context"
	"fmt"
	"time"

	"plaza/social"
)

const lookEvery = 5 * time.Millisecond

// settle does all background work that is left, and nothing else.
func settle(ctx context.Context, store social.Worker) error {
	working, rest := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		store.Work(working)
	}()
	defer func() { rest(); <-done }()
	again := time.NewTicker(lookEvery)
	defer again.Stop()
	for {
		backlog, err := store.Backlog(ctx)
		switch {
		case err != nil:
			return err
		case backlog.Dead > 0:
			return fmt.Errorf("background work failed: %+v", backlog.Faults)
		case backlog.Waiting == 0:
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-again.C:
		}
	}
}
