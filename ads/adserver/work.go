package adserver

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"plaza/ads"
)

const (
	// returnEvery is how often a server returns the rest of its own leases.
	returnEvery = time.Second
	// settleEvery is how often a server looks for leases to settle and unfinished refunds, and
	// stores its counts, as a multiple of returnEvery.
	settleEvery = 15
	// rollUpEvery is how often a server adds up what was recorded, as a multiple of returnEvery.
	rollUpEvery = 300
)

// Work does the background work on ads until ctx ends. It counts the recordings that other servers
// have left, gives back what is left of leases, the server's own and those of servers that are
// gone, continues refunds, stores traffic counts, and adds up reports. Any number of servers may
// run it at the same time.
func (s *Service) Work(ctx context.Context, logger *slog.Logger) {
	try := func(what string, do func(context.Context) error) {
		if err := do(ctx); err != nil && ctx.Err() == nil {
			logger.WarnContext(ctx, "some work on ads was postponed", "work", what, "error", err)
		}
	}
	// Once the key is known, clicks lead on without the database.
	try("reading the signing key", func(ctx context.Context) error {
		_, err := s.signingKey(ctx)
		return err
	})
	ticker := time.NewTicker(returnEvery)
	defer ticker.Stop()
	for round := 0; ; round++ {
		try("returning budgets", s.returnLeases)
		if round%settleEvery == 0 {
			try("counting recordings", s.countRecordings)
			try("storing clicks", s.newlyLost)
			try("settling budgets", s.Settle)
			try("refunds", s.FinishRefunds)
			try("counting requests", s.FlushTraffic)
		}
		if round%rollUpEvery == rollUpEvery-1 {
			try("adding up reports", s.CatchUp)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// returnLeases gives back what is left of this server's expired leases.
func (s *Service) returnLeases(ctx context.Context) error { return present(s.wallet.tidy(ctx, false)) }

// Close gives back everything that this server has on lease, and stores its counts. Call it when no
// more requests can arrive: otherwise budgets lack the leased money for half an hour, and the
// counts are lost.
func (s *Service) Close(ctx context.Context) error {
	return errors.Join(present(s.wallet.tidy(ctx, true)), s.FlushTraffic(ctx))
}

// Settle gives back what is left of this server's expired leases, and of all leases whose
// impressions have expired.
func (s *Service) Settle(ctx context.Context) error {
	if err := s.returnLeases(ctx); err != nil {
		return err
	}
	for {
		settled, err := s.store.Settle(ctx, s.now())
		if err != nil || settled < ads.MaxSettled {
			return err
		}
	}
}

// FlushTraffic stores what this server has counted since the last time. Call it when no more
// requests can arrive, so that no counts are lost.
func (s *Service) FlushTraffic(ctx context.Context) error { return present(s.counter.flush(ctx)) }
