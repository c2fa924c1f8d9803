package transport

import (
	"context"
	"sync/atomic"
)

type endingKey struct{}

// ending is where a subscription's source leaves the reason for its end.
type ending struct{ reason atomic.Pointer[error] }

func (e *ending) err() error {
	if reason := e.reason.Load(); reason != nil {
		return *reason
	}
	return nil
}

func withEnding(ctx context.Context) (context.Context, *ending) {
	e := new(ending)
	return context.WithValue(ctx, endingKey{}, e), e
}

// EndSubscription makes a subscription end with an error instead of complete. A resolver calls it
// with its own context before it closes its channel (a subscriber that is too slow, a source that
// failed). The error goes through the presenter. Only the first call counts; outside of a
// subscription it does nothing.
func EndSubscription(ctx context.Context, err error) {
	if e, ok := ctx.Value(endingKey{}).(*ending); ok && err != nil {
		e.reason.CompareAndSwap(nil, &err)
	}
}
