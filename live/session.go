package live

import (
	"context"
	"maps"
	"slices"
	"time"
)

// How often, and in what batches, the sessions of open subscriptions are checked.
const (
	sessionInterval = 500 * time.Millisecond
	sessionBatch    = 1000
)

// watchSessions ends the subscriptions of ended sessions, until ctx ends. Events report those that
// were signed out; this finds those that have expired, and those that were removed from the
// database in any other way.
func (h *Hub) watchSessions(ctx context.Context) {
	again := time.NewTicker(sessionInterval)
	defer again.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-again.C:
			h.endOldSessions(ctx)
		}
	}
}

func (h *Hub) endOldSessions(ctx context.Context) {
	for batch := range slices.Chunk(h.openSessions(), sessionBatch) {
		live, err := h.service.LiveSessions(ctx, batch)
		if err != nil {
			h.logger.DebugContext(ctx, "cannot check sessions", "error", err)
			return // the next round is soon
		}
		valid := make(map[[32]byte]bool, len(live))
		for _, session := range live {
			valid[session] = true
		}
		for _, session := range batch {
			if !valid[session] {
				h.EndSession(session)
			}
		}
	}
}

// openSessions returns the sessions that have a subscription on this server, without duplicates.
func (h *Hub) openSessions() [][32]byte {
	signedIn := h.matching(func(s *Subscription) bool { return s.session != [32]byte{} })
	sessions := make(map[[32]byte]struct{}, len(signedIn))
	for _, s := range signedIn {
		sessions[s.session] = struct{}{}
	}
	return slices.Collect(maps.Keys(sessions))
}
