package retry_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"plaza/retry"
)

var errConflict = errors.New("conflict")

func TestDo(t *testing.T) {
	const longest = (2 + 4 + 8 + 16 + 32 + 64 + 128 + 250 + 250) * time.Millisecond // nine pauses
	errFinal := errors.New("final")
	isConflict := func(err error) bool { return errors.Is(err, errConflict) }
	for name, c := range map[string]struct {
		conflicts int
		last      error
	}{
		"at once": {0, nil}, "after conflicts": {9, nil}, "another error": {0, errFinal}, "another error after conflicts": {3, errFinal},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began, calls := time.Now(), 0
				err := retry.Do(t.Context(), func() error {
					if calls++; calls <= c.conflicts {
						return errConflict
					}
					return c.last
				}, isConflict)
				if !errors.Is(err, c.last) || calls != c.conflicts+1 {
					t.Errorf("%v after %d calls, want %v after %d", err, calls, c.last, c.conflicts+1)
				}
				if took := time.Since(began); took > longest {
					t.Errorf("the pauses took %v, want at most %v", took, longest)
				}
			})
		})
	}
}

func TestDoEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	calls := 0
	err := retry.Do(ctx, func() error {
		calls++
		cancel()
		return errConflict
	}, func(error) bool { return true })
	if !errors.Is(err, errConflict) || !errors.Is(err, context.Canceled) {
		t.Errorf("%v after %d calls", err, calls)
	}
}
