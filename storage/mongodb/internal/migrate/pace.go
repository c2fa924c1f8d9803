package migrate

import (
	"context"
	"time"

	"golang.org/x/time/rate"
)

// Pace keeps background work below a number of entries per second.
type Pace struct{ *rate.Limiter }

// NewPace returns the pace of work in steps of up to step entries. A perSecond of 0 means
// unlimited.
func NewPace(perSecond, step int) Pace {
	if perSecond <= 0 {
		return Pace{rate.NewLimiter(rate.Inf, step)}
	}
	p := Pace{rate.NewLimiter(rate.Limit(perSecond), step)}
	p.AllowN(time.Now(), step) // uses up the burst, so that the first step is limited too
	return p
}

// Wait waits until the next step may begin after a step of n entries. It returns ctx's error
// immediately if ctx ends before that.
func (p Pace) Wait(ctx context.Context, n int) error {
	for ; n > p.Burst(); n -= p.Burst() {
		if err := p.WaitN(ctx, p.Burst()); err != nil {
			return err
		}
	}
	return p.WaitN(ctx, n)
}
