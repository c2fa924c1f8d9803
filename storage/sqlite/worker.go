package sqlite

import (
	"context"

	"plaza/social"
)

// Work implements social.Worker: this engine leaves nothing for later.
func (s *Store) Work(ctx context.Context) { <-ctx.Done() }

// Backlog implements social.Worker: it is always empty.
func (s *Store) Backlog(ctx context.Context) (social.Backlog, error) {
	return social.Backlog{}, ctx.Err()
}

// Revive implements social.Worker.
func (s *Store) Revive(ctx context.Context) (int, error) { return 0, ctx.Err() }
