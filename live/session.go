package live

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"time"

	"plaza/social/network"
)

// How often, and in what batches, the sessions of open subscriptions are checked.
const (
	sessionInterval = 500 * time.Millisecond
	sessionBatch    = 1000
)

// sessionWatch finds sessions that have ended.
type sessionWatch struct {
	service  *network.Service
	registry *registry
	logger   *slog.Logger
	ended    func(session [32]byte)
}

// run calls ended for the sessions of subscriptions that have ended, until ctx ends. Events report
// sessions that were signed out; run finds those that have expired, and those that were removed
// from the database in any other way.
func (w *sessionWatch) run(ctx context.Context) {
	again := time.NewTicker(sessionInterval)
	defer again.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-again.C:
			w.endOld(ctx)
		}
	}
}

func (w *sessionWatch) endOld(ctx context.Context) {
	for batch := range slices.Chunk(w.open(), sessionBatch) {
		live, err := w.service.LiveSessions(ctx, batch)
		if err != nil {
			w.logger.DebugContext(ctx, "cannot check sessions", "error", err)
			return // the next round is soon
		}
		valid := make(map[[32]byte]bool, len(live))
		for _, session := range live {
			valid[session] = true
		}
		for _, session := range batch {
			if !valid[session] {
				w.ended(session)
			}
		}
	}
}

// open returns the sessions that have a subscription on this server, without duplicates.
func (w *sessionWatch) open() [][32]byte {
	signedIn := w.registry.matching(func(s *Subscription) bool { return s.session != [32]byte{} })
	sessions := make(map[[32]byte]struct{}, len(signedIn))
	for _, s := range signedIn {
		sessions[s.session] = struct{}{}
	}
	return slices.Collect(maps.Keys(sessions))
}
