package ads

import (
	"context"
	"errors"
	"log/slog"
	"time"
)

const (
	// returnEvery is how often a server gives back what is left of its own leases.
	returnEvery = time.Second
	// settleEvery is how often it looks for leases that are settled and refunds that are not done, and stores what it has counted, in returnEvery.
	settleEvery = 15
	// rollUpEvery is how often it adds up what was recorded, in returnEvery.
	rollUpEvery = 300
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

// returnLeases gives back what is left of this server's leases that have ended.
func (s *Service) returnLeases(ctx context.Context) error { return present(s.wallet.tidy(ctx, false)) }

// Close gives back all that this server has on lease, and stores what it has counted. Call it when no more requests come: what is on lease
// is otherwise missing in budgets for half an hour, and the counts are lost.
func (s *Service) Close(ctx context.Context) error {
	return errors.Join(present(s.wallet.tidy(ctx, true)), s.FlushTraffic(ctx))
}

// Settle gives back what is left of leases: of this server's that have ended, and of all whose impressions have expired.
func (s *Service) Settle(ctx context.Context) error {
	if err := s.returnLeases(ctx); err != nil {
		return err
	}
	for {
		settled, err := s.store.Settle(ctx, s.now())
		if err != nil || settled < MaxSettled {
			return err
		}
	}
}
