package mongodb

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"plaza/social"
)

const (
	// workers is how many jobs one process does at the same time.
	workers = 2
	// pollEvery is about how often an idle worker looks for jobs of other processes, and for those due again.
	pollEvery = time.Second
	// maxTrouble is how long a worker waits at most while the database does not answer.
	maxTrouble = 3 * time.Second
)

// Work implements social.Worker.
func (s *Store) Work(ctx context.Context) {
	var all sync.WaitGroup
	for range workers {
		all.Go(func() { s.workOn(ctx) })
	}
	all.Wait()
}

// workOn does one job after the other, and looks around more and more slowly while that fails.
func (s *Store) workOn(ctx context.Context) {
	trouble := time.Duration(0)
	for ctx.Err() == nil {
		did, err := s.workOnce(ctx)
		switch {
		case err != nil && ctx.Err() == nil:
			trouble = min(max(2*trouble, pollEvery), maxTrouble)
			s.member.logger.WarnContext(ctx, "background work waits for the database", "error", err, "wait", trouble)
			rest(ctx, trouble, nil)
		case !did:
			trouble = 0
			rest(ctx, pollEvery/2+rand.N(pollEvery), s.jobs.ready) //nolint:gosec // a pause is no secret
		default:
			trouble = 0
		}
	}
}

// rest waits until it has been long enough, there is a job, or ctx ends.
func rest(ctx context.Context, most time.Duration, added <-chan struct{}) {
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-added:
	case <-timer.C:
	}
}

// workOnce does one job, if any is due. The error is the queue's; that of a job is stored beside it.
func (s *Store) workOnce(ctx context.Context) (did bool, err error) {
	var j *jobDoc
	err = s.db.Read(ctx, "claim job", func(ctx context.Context) error {
		j, err = s.jobs.claim(ctx, time.Now())
		return err
	})
	if err != nil || j == nil {
		return false, err
	}
	whole := context.WithoutCancel(ctx) // what has begun is finished
	failure := s.attemptJob(whole, j)
	err = s.db.Read(whole, "end job", func(ctx context.Context) error {
		switch {
		case failure == nil:
			return s.jobs.finish(ctx, j)
		case errors.Is(failure, errMoreWork):
			return s.jobs.goOn(ctx, j)
		}
		s.member.logger.WarnContext(ctx, "a background job failed", "job", j.fault().Job, "attempt", j.Attempts, "error", failure)
		return s.jobs.postpone(ctx, j, failure)
	})
	return true, err
}

func (s *Store) attemptJob(ctx context.Context, j *jobDoc) error {
	ctx, cancel := context.WithTimeout(ctx, jobTime)
	defer cancel()
	ctx, call := s.member.Enter(ctx)
	defer call.Leave()
	if err := call.MayWrite(); err != nil {
		return err
	}
	switch j.Kind {
	case jobErase:
		return s.eraseNext(ctx, j)
	case jobForget:
		return s.forgetProperty(ctx, j)
	case jobDelete, jobSweep:
		return s.deleteLeft(ctx, j)
	default:
		return s.feeds.do(ctx, j)
	}
}

// jobKinds are the kinds of jobs that attemptJob can do, in any layout.
func (s *Store) jobKinds() []jobKind {
	kinds := []jobKind{jobErase, jobForget, jobDelete, jobSweep}
	for _, layout := range s.feedLayouts {
		kinds = append(kinds, layout.jobKinds()...)
	}
	slices.Sort(kinds)
	return slices.Compact(kinds)
}

// Backlog implements social.Worker.
func (s *Store) Backlog(ctx context.Context) (b social.Backlog, err error) {
	err = s.db.Read(ctx, "backlog", func(ctx context.Context) error {
		b, err = s.jobs.backlog(ctx)
		return err
	})
	return b, err
}

// Revive implements social.Worker.
func (s *Store) Revive(ctx context.Context) (n int, err error) {
	err = s.db.Read(ctx, "revive jobs", func(ctx context.Context) error {
		n, err = s.jobs.revive(ctx)
		return err
	})
	return n, err
}
