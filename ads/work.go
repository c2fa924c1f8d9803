package ads

import (
	"context"
	"log/slog"
	"time"
)

const (
	// settleEvery is how often a server looks for leases that have ended.
	settleEvery = 15 * time.Second
	// rollUpEvery is how often it adds up what was recorded, in settleEvery.
	rollUpEvery = 20
)

// Work gives back what is left of leases, the server's own and those of servers that are gone, and adds up what was recorded,
// until ctx ends. Any number of servers may do it at once.
func (s *Service) Work(ctx context.Context, logger *slog.Logger) {
	ticker := time.NewTicker(settleEvery)
	defer ticker.Stop()
	for round := 0; ; round++ {
		if err := s.Settle(ctx); err != nil && ctx.Err() == nil {
			logger.WarnContext(ctx, "budgets of ads could not be settled", "error", err)
		}
		if round%rollUpEvery == rollUpEvery-1 {
			if err := s.CatchUp(ctx); err != nil && ctx.Err() == nil {
				logger.WarnContext(ctx, "reports of ads could not be brought up to date", "error", err)
			}
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
