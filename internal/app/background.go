package app

import (
	"context"
	"time"
)

// inBackground runs a task until ctx ends. The channel is closed when the task has returned.
func inBackground(ctx context.Context, task func(context.Context)) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		task(ctx)
	}()
	return done
}

// pause waits until d has passed or ctx has ended.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}
