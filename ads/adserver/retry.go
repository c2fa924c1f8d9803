package adserver

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"plaza/ads"
)

const (
	// saveTries is how often a change is attempted if other writers change the same thing.
	saveTries = 12
	// Between two attempts lies a random pause, of up to firstPause before the second attempt, and of
	// up to twice as long before each further one: without it, writers that collide once do so again.
	firstPause = 2 * time.Millisecond
	maxPause   = 250 * time.Millisecond
)

// retrying runs save again while its error is ErrConflict, at most saveTries times. If ctx ends
// during a pause, it returns the conflict.
func retrying(ctx context.Context, save func() error) error {
	pause := firstPause
	for try := 1; ; try++ {
		err := save()
		if try == saveTries || !errors.Is(err, ads.ErrConflict) {
			return err
		}
		select {
		case <-time.After(rand.N(pause)): //nolint:gosec // a pause needs no secure randomness
		case <-ctx.Done():
			return err
		}
		pause = min(2*pause, maxPause)
	}
}
