package ads

import (
	"context"
	"log/slog"
	"time"
)

const (
	// settleEvery is how often a server looks for leases that have ended and refunds that are not done, and stores what it has counted.
	settleEvery = 15 * time.Second
	// rollUpEvery is how often it adds up what was recorded, in settleEvery.
	rollUpEvery = 20
)

// Work counts what was recorded and left by servers that are gone, gives back what is left of leases, the server's own and those of servers that are
// gone, goes on with refunds, stores what was counted, and adds up what was recorded, until ctx ends. Any number of servers may do it at once.
func (s *Service) Work(ctx context.Context, logger *slog.Logger) {
	try := func(what string, do func(context.Context) error) {
		if err := do(ctx); err != nil && ctx.Err() == nil {
			logger.WarnContext(ctx, "some work on ads was put off", "work", what, "error", err)
		}
	}
	// Clicks lead on without the database as soon as this is known.
	try("reading the signing key", func(ctx context.Context) error {
		_, err := s.signingKey(ctx)
		return err
	})
	ticker := time.NewTicker(settleEvery)
	defer ticker.Stop()
	for round := 0; ; round++ {
		try("counting recordings", s.countRecordings)
		try("storing clicks", s.newlyLost)
		try("settling budgets", s.Settle)
		try("refunds", s.FinishRefunds)
		try("counting requests", s.FlushTraffic)
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

// Settle gives back what is left of all leases that have ended by now.
func (s *Service) Settle(ctx context.Context) error {
	for {
		settled, err := s.store.Settle(ctx, s.now())
		if err != nil || settled < MaxSettled {
			return err
		}
	}
}
