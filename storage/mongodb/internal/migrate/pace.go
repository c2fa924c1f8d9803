package migrate

import (
	"context"
	"time"

	"golang.org/x/time/rate"
)

// Pace keeps background work below a number of entries per second.
type Pace struct{ *rate.Limiter }

// NewPace returns the pace of work that is done in steps of up to a number of entries; perSecond 0:
// unlimited.
func NewPace(perSecond, step int) Pace {
	if perSecond <= 0 {
		return Pace{rate.NewLimiter(rate.Inf, step)}
	}
	p := Pace{rate.NewLimiter(rate.Limit(perSecond), step)}
	p.AllowN(time.Now(), step) // even the first step takes its time
	return p
}

// Wait returns when the next step may begin, after one of n entries. Error: ctx's, as soon as it is
// known that ctx ends before that.
func (p Pace) Wait(ctx context.Context, n int) error {
	for ; n > p.Burst(); n -= p.Burst() {
		if err := p.WaitN(ctx, p.Burst()); err != nil {
			return err
		}
	}
	return p.WaitN(ctx, n)
}
