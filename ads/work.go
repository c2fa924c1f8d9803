package ads

import (
	"context"
	"log/slog"
	"time"
)

// settleEvery is how often a server looks for leases that have ended.
const settleEvery = 15 * time.Second

// Work gives back what is left of leases, its own and those of servers that are gone, until ctx ends.
func (s *Service) Work(ctx context.Context, logger *slog.Logger) {
	ticker := time.NewTicker(settleEvery)
	defer ticker.Stop()
	for {
		if err := s.Settle(ctx); err != nil && ctx.Err() == nil {
			logger.WarnContext(ctx, "budgets of ads could not be settled", "error", err)
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
