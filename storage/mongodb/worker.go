package mongodb

import (
	"context"

	"plaza/social"
	"plaza/storage/mongodb/internal/jobs"
	"plaza/storage/mongodb/internal/profiles"
)

// Work implements social.Worker.
func (s *Store) Work(ctx context.Context) { s.workers.Run(ctx) }

// doJob does a job, or a part of it.
func (s *Store) doJob(ctx context.Context, j *jobs.Job) error {
	switch j.Kind {
	case jobErase:
		return s.eraseNext(ctx, j)
	case profiles.JobForget:
		return s.profiles.Do(ctx, j)
	case jobDelete, jobSweep:
		return s.deleteLeft(ctx, j)
	default:
		return s.feeds.Do(ctx, j)
	}
}

// jobKinds returns the kinds of jobs that doJob can do, in any layout.
func (s *Store) jobKinds() []jobs.Kind {
	return append(s.feeds.JobKinds(), jobErase, profiles.JobForget, jobDelete, jobSweep)
}

// Backlog implements social.Worker.
func (s *Store) Backlog(ctx context.Context) (b social.Backlog, err error) {
	err = s.db.Read(ctx, "backlog", func(ctx context.Context) error {
		b, err = s.jobs.Backlog(ctx)
		return err
	})
	return b, err
}

// Revive implements social.Worker.
func (s *Store) Revive(ctx context.Context) (n int, err error) {
	err = s.db.Read(ctx, "revive jobs", func(ctx context.Context) error {
		n, err = s.jobs.Revive(ctx)
		return err
	})
	return n, err
}
