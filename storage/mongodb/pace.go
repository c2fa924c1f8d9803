package mongodb

import (
	"context"
	"time"

	"golang.org/x/time/rate"
)

// pace keeps background work below a number of entries per second.
type pace struct{ *rate.Limiter }

// newPace is the pace of work that is done in steps of up to a number of entries; perSecond 0: unlimited.
func newPace(perSecond, step int) pace {
	if perSecond <= 0 {
		return pace{rate.NewLimiter(rate.Inf, step)}
	}
	p := pace{rate.NewLimiter(rate.Limit(perSecond), step)}
	p.AllowN(time.Now(), step) // even the first step takes its time
	return p
}

// wait returns when the next step may begin, after one of n entries. Error: ctx's, as soon as it is known that ctx ends before that.
func (p pace) wait(ctx context.Context, n int) error {
	for ; n > p.Burst(); n -= p.Burst() {
		if err := p.WaitN(ctx, p.Burst()); err != nil {
			return err
		}
	}
	return p.WaitN(ctx, n)
}
