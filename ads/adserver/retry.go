package adserver

import (
	"context"
	"errors"

	"plaza/ads"
	"plaza/retry"
)

// saveTries is how often a change is attempted if other writers change the same thing.
const saveTries = 12

// retrying runs save again while its error is ErrConflict, at most saveTries times.
func retrying(ctx context.Context, save func() error) error {
	tries := 0
	return retry.Do(ctx, save, func(err error) bool {
		tries++
		return tries < saveTries && errors.Is(err, ads.ErrConflict)
	})
}
