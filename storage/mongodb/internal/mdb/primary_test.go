package mdb

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/event"

	"plaza/social"
)

const patience = 4 * time.Second

// TestCallsEndWithoutAPrimary: a call ends once the primary has been missing for as long as it waits,
// counted from when it has missed it, and never because the database is slow.
func TestCallsEndWithoutAPrimary(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		events []topologyEvent
		ends   time.Duration
		why    error
	}{
		"never there":    {nil, patience, errNoPrimary},
		"there":          {[]topologyEvent{{0, "RSPrimary"}}, time.Minute, context.DeadlineExceeded},
		"a mongos":       {[]topologyEvent{{0, "Mongos"}}, time.Minute, context.DeadlineExceeded},
		"no members":     {[]topologyEvent{{0, "RSSecondary"}}, patience, errNoPrimary},
		"lost meanwhile": {[]topologyEvent{{0, "RSPrimary"}, {7 * time.Second, "RSSecondary"}}, 7*time.Second + patience, errNoPrimary},
		"back in time":   {[]topologyEvent{{3900 * time.Millisecond, "RSPrimary"}}, time.Minute, context.DeadlineExceeded},
		"lost twice": {
			[]topologyEvent{{0, "RSPrimary"}, {2 * time.Second, "Unknown"}, {5 * time.Second, "RSPrimary"}, {6 * time.Second, "Unknown"}},
			6*time.Second + patience, errNoPrimary,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := NewPrimary(patience)
				for _, e := range test.events {
					time.AfterFunc(e.at, func() { p.Monitor().TopologyDescriptionChanged(e.event()) })
				}
				began := time.Now()
				ctx, cancel := p.limit(t.Context(), time.Minute)
				defer cancel()
				<-ctx.Done()
				if after, why := time.Since(began), context.Cause(ctx); after != test.ends || !errors.Is(why, test.why) {
					t.Errorf("the call ended after %v: %v, want %v: %v", after, why, test.ends, test.why)
				}
			})
		})
	}
}

// TestACallWithoutAPrimaryIsUnavailable: clients hear that they may try again, whatever the driver
// says of a call that was ended.
func TestACallWithoutAPrimaryIsUnavailable(t *testing.T) {
	t.Parallel()
	ctx, end := context.WithCancelCause(t.Context())
	end(errNoPrimary)
	if err := Translate(t.Context(), "posts", causeOf(ctx, ctx.Err())); !errors.Is(err, social.ErrUnavailable) {
		t.Errorf("error: %v, want ErrUnavailable", err)
	}
	if err := causeOf(ctx, nil); err != nil {
		t.Errorf("a call that succeeded as it was ended: %v", err)
	}
}

// topologyEvent says what kind of server the deployment consists of from a moment on.
type topologyEvent struct {
	at   time.Duration
	kind string
}

func (e topologyEvent) event() *event.TopologyDescriptionChangedEvent {
	return &event.TopologyDescriptionChangedEvent{NewDescription: event.TopologyDescription{
		Servers: []event.ServerDescription{{Kind: "RSSecondary"}, {Kind: e.kind}},
	}}
}
