// Package wait provides a pause that a signal or a context can end early.
package wait

import (
	"context"
	"time"
)

// For waits for a duration. It returns earlier if a value arrives on early (optional), early is
// closed, or ctx ends.
func For(ctx context.Context, most time.Duration, early <-chan struct{}) {
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-early:
	case <-timer.C:
	}
}
