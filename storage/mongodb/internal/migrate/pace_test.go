package migrate

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestStepsDoNotExceedRate: whatever the sizes of steps are, no step goes ahead of the rate.
func TestStepsDoNotExceedRate(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		perSecond, n int
		want         time.Duration
	}{
		{100, 3, 600 * time.Millisecond}, {100, 10, 2 * time.Second}, {100, 35, 7 * time.Second}, {0, 35, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			p, began := NewPace(c.perSecond, 10), time.Now()
			for range 20 {
				if err := p.Wait(t.Context(), c.n); err != nil {
					t.Fatal(err)
				}
			}
			const slack = 10 * time.Millisecond
			if took := time.Since(began); took < c.want-slack || took > c.want+slack {
				t.Errorf("20 steps of %d entries at %d per second take %v, want %v", c.n, c.perSecond, took, c.want)
			}
			ended, end := context.WithCancel(t.Context())
			end()
			if err := p.Wait(ended, 1); !errors.Is(err, context.Canceled) {
				t.Errorf("after the end: %v", err)
			}
		})
	}
}
