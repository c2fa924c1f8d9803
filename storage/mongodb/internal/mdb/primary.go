package mdb

import (
	"context"
	"fmt"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/event"

	"plaza/social"
)

// errNoPrimary: the call has waited for a primary as long as it may.
var errNoPrimary = fmt.Errorf("%w: the database has no primary", social.ErrUnavailable)

// Primary follows whether the deployment has a server that takes writes, and ends calls that would
// wait too long for one. The driver could bound that wait too, but by the same limit as the wait
// for a connection of its pool: a burst on a slow database would then be refused although calls
// have time left.
type Primary struct {
	patience time.Duration

	mu      sync.Mutex
	present bool
	lostAt  time.Time // meaningful while it is not present
}

// NewPrimary lets calls wait for a primary for the given time.
func NewPrimary(patience time.Duration) *Primary {
	return &Primary{patience: patience, lostAt: time.Now()}
}

// Monitor is for the client whose deployment this follows.
func (p *Primary) Monitor() *event.ServerMonitor {
	return &event.ServerMonitor{TopologyDescriptionChanged: func(e *event.TopologyDescriptionChangedEvent) {
		p.set(takesWrites(e.NewDescription))
	}}
}

func (p *Primary) set(present bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.present && !present {
		p.lostAt = time.Now()
	}
	p.present = present
}

// takesWrites says whether the deployment has a server that commands can go to.
func takesWrites(d event.TopologyDescription) bool {
	for _, server := range d.Servers {
		switch server.Kind {
		case "RSPrimary", "Mongos", "Standalone", "LoadBalancer":
			return true
		}
	}
	return false
}

// limit bounds a call by a time limit, and ends it sooner, with the cause errNoPrimary, once it has
// waited for a primary for as long as it may.
func (p *Primary) limit(ctx context.Context, timeout time.Duration) (context.Context, context.CancelFunc) {
	ctx, end := context.WithCancelCause(ctx)
	ctx, cancel := context.WithTimeout(ctx, timeout)
	watch := time.AfterFunc(p.patience, func() { p.watch(ctx, end) })
	return ctx, func() {
		watch.Stop()
		cancel()
		end(nil)
	}
}

// watch ends a call when the primary has been missing for too long. Few calls last until it begins.
func (p *Primary) watch(ctx context.Context, end context.CancelCauseFunc) {
	for {
		left := p.patienceLeft()
		if left <= 0 {
			end(errNoPrimary)
			return
		}
		select {
		case <-time.After(left):
		case <-ctx.Done():
			return
		}
	}
}

func (p *Primary) patienceLeft() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.present {
		return p.patience
	}
	return p.patience - time.Since(p.lostAt)
}

// causeOf is the error of a call with what ended it, if that was the lack of a primary.
func causeOf(limited context.Context, err error) error {
	if cause := context.Cause(limited); err != nil && cause == errNoPrimary { //nolint:errorlint // set by watch alone
		return fmt.Errorf("%w: %w", cause, err)
	}
	return err
}
