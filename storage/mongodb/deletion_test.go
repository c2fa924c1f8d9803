package mongodb

import (
	"context"
	"time"

	"plaza/social"
)

// Sweep does the job that removes what a deleted user has left behind.
func (s *Store) Sweep(ctx context.Context, user social.UserID) error {
	return s.deleteLeft(ctx, &jobDoc{Kind: jobSweep, Author: user})
}

// HastenSweeps makes due what is to be done only in some minutes.
func (s *Store) HastenSweeps(ctx context.Context) error {
	_, err := s.jobs.jobs.UpdateMany(ctx, doc("kind", jobSweep), doc("$set", doc("due", time.Now())))
	s.jobs.wake()
	return err
}
