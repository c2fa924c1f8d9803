// Package retry runs again what failed because another writer was faster.
package retry

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

// Between two attempts lies a random pause, of up to firstPause before the second attempt, and of
// up to twice as long before each further one: without it, writers that collide once do so again.
const (
	firstPause = 2 * time.Millisecond
	maxPause   = 250 * time.Millisecond
)

// Do runs fn until it succeeds or mayRepeat returns false for its error, which Do then returns. If
// ctx ends during a pause, it returns both errors.
func Do(ctx context.Context, fn func() error, mayRepeat func(error) bool) error {
	for pause := firstPause; ; pause = min(2*pause, maxPause) {
		err := fn()
		if err == nil || !mayRepeat(err) {
			return err
		}
		select {
		case <-time.After(rand.N(pause)): //nolint:gosec // a pause needs no secure randomness
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		}
	}
}
