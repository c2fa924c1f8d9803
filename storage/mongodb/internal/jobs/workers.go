package jobs

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"plaza/storage/mongodb/internal/mdb"
	"plaza/storage/mongodb/internal/wait"
)

const (
	// pollEvery is the approximate interval at which an idle worker looks for jobs of other
	// processes and for retries.
	pollEvery = time.Second
	// maxTrouble is the longest pause of a worker while the database does not answer.
	maxTrouble = 3 * time.Second
	// giveBackTime bounds giving jobs back when a server is stopped.
	giveBackTime = time.Second
)

// Workers do jobs, several of them concurrently.
type Workers struct {
	queue  *Queue
	db     *mdb.DB
	logger *slog.Logger
	do     func(ctx context.Context, j *Job) error
}

// NewWorkers returns the workers of a queue. do does one job within the server's lease, or does a
// part of it and returns ErrMore. It may be called more than once for a job, so it must be safe to
// repeat.
func NewWorkers(queue *Queue, db *mdb.DB, logger *slog.Logger, do func(ctx context.Context, j *Job) error) *Workers {
	return &Workers{queue: queue, db: db, logger: logger, do: do}
}

// Run does jobs until ctx ends.
func (w *Workers) Run(ctx context.Context) {
	var all sync.WaitGroup
	for range workerCount {
		all.Go(func() { w.workOn(ctx) })
	}
	all.Wait()
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), giveBackTime)
	defer cancel()
	if err := w.db.Read(limited, "give back jobs", w.queue.GiveBack); err != nil {
		w.logger.WarnContext(ctx, "other servers do this server's jobs when their leases end", "error", err)
	}
}

// workOn does one job after another. While the queue fails, it polls more and more slowly.
func (w *Workers) workOn(ctx context.Context) {
	trouble := time.Duration(0)
	for ctx.Err() == nil {
		did, err := w.Once(ctx)
		switch {
		case err != nil && ctx.Err() == nil:
			trouble = min(max(2*trouble, pollEvery), maxTrouble)
			w.logger.WarnContext(ctx, "background work waits for the database", "error", err, "ms", trouble.Milliseconds())
			wait.For(ctx, trouble, nil)
		case !did:
			trouble = 0
			wait.For(ctx, pollEvery/2+rand.N(pollEvery), w.queue.ready) //nolint:gosec // a pause needs no secure randomness
		default:
			trouble = 0
		}
	}
}

// Once does one job if any is due. It returns errors of the queue; an error of the job is stored
// with the job.
func (w *Workers) Once(ctx context.Context) (did bool, err error) {
	var j *Job
	err = w.db.Read(ctx, "claim job", func(ctx context.Context) error {
		j, err = w.queue.Next(ctx, w.queue.now())
		return err
	})
	if err != nil || j == nil {
		return false, err
	}
	whole := context.WithoutCancel(ctx) // finish what has begun
	failure := w.Attempt(whole, j)
	err = w.db.Read(whole, "end job", func(ctx context.Context) error {
		switch {
		case failure == nil:
			return w.queue.Finish(ctx, j)
		case errors.Is(failure, ErrMore):
			err = w.queue.Continue(ctx, j)
		default:
			w.logger.WarnContext(ctx, "a background job failed", "job", j.fault().Job, "attempt", j.Attempts, "error", failure)
			err = w.queue.Postpone(ctx, j, failure)
		}
		return errors.Join(err, w.queue.removeDone(ctx))
	})
	return true, err
}

// Attempt does a job, or a part of it.
func (w *Workers) Attempt(ctx context.Context, j *Job) error {
	ctx, cancel := context.WithTimeout(ctx, AttemptTime)
	defer cancel()
	return w.db.InLease(ctx, func(ctx context.Context) error { return w.do(ctx, j) })
}
