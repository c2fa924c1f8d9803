// Package wait waits in the background: for a time, or for a signal that comes earlier.
package wait

import (
	"context"
	"time"
)

// For waits until the time is over, something is sent on early (optional) or it is closed, or ctx
// ends.
func For(ctx context.Context, most time.Duration, early <-chan struct{}) {
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-early:
	case <-timer.C:
	}
}
