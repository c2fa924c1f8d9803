package mongodb

import (
	"context"
	"errors"
	"time"

	"plaza/social"
)

// Sweep does the job that removes what a deleted user has left behind.
func (s *Store) Sweep(ctx context.Context, user social.UserID) error {
	return s.deleteLeft(ctx, &jobDoc{Kind: jobSweep, Author: user})
}

// SweepNow makes due what is to be done only in some minutes.
func (s *Store) SweepNow(ctx context.Context) error {
	result, err := s.jobs.jobs.UpdateMany(ctx, doc("kind", jobSweep), doc("$set", doc("due", time.Now())))
	if err == nil && result.MatchedCount == 0 {
		err = errors.New("nothing is to be done later")
	}
	s.jobs.wake()
	return err
}
