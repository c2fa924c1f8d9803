package live

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"plaza/social"
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
			w.endOld(ctx, everyone)
		}
	}
}

// endOld ends those of the sessions of some subscriptions that are no longer valid.
func (w *sessionWatch) endOld(ctx context.Context, of func(*Subscription) bool) {
	stored, issued := w.open(of)
	for batch := range slices.Chunk(stored, sessionBatch) {
		live, err := w.service.LiveSessions(ctx, batch)
		if !w.endAllBut(ctx, live, batch, err) {
			return
		}
	}
	for batch := range slices.Chunk(issued, sessionBatch) {
		live, err := w.service.LiveTokens(ctx, batch)
		if !w.endAllBut(ctx, live, hashesOf(batch), err) {
			return
		}
	}
}

func hashesOf(sessions []social.Session) [][32]byte {
	hashes := make([][32]byte, len(sessions))
	for i := range sessions {
		hashes[i] = sessions[i].TokenHash
	}
	return hashes
}

// endAllBut ends the sessions of a batch that are not among the live ones. It returns false if these
// could not be read.
func (w *sessionWatch) endAllBut(ctx context.Context, live, batch [][32]byte, err error) bool {
	if err != nil {
		w.logger.DebugContext(ctx, "cannot check sessions", "error", err)
		return false // the next round is soon
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
	return true
}

// open returns the sessions of some subscriptions, without duplicates: those that are stored, by
// their hashes, and those of tokens that other sites have issued.
func (w *sessionWatch) open(of func(*Subscription) bool) (stored [][32]byte, issued []social.Session) {
	known := map[[32]byte]bool{}
	for _, s := range w.registry.matching(func(s *Subscription) bool { return s.session != [32]byte{} && of(s) }) {
		switch {
		case known[s.session]:
		case s.issued != nil:
			issued = append(issued, *s.issued)
		default:
			stored = append(stored, s.session)
		}
		known[s.session] = true
	}
	return stored, issued
}
