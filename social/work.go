package social

import (
	"context"
	"fmt"
	"time"
)

// Worker does an engine's background work, such as adding a new post to followers' feeds. No write
// waits for it. A job is stored in the transaction of the write that causes it, and done at least
// once, by any server on the database; doing it again changes nothing. While there is work left,
// News and Wall may lack their newest entries.
type Worker interface {
	// Work does jobs until ctx ends, and returns when those in progress are done, at most a few
	// seconds later.
	Work(ctx context.Context)
	// Backlog returns the remaining work.
	Backlog(ctx context.Context) (Backlog, error)
	// Revive retries the jobs that were given up, and returns their number.
	Revive(ctx context.Context) (int, error)
}

// Backlog is the remaining work.
type Backlog struct {
	Waiting int       // jobs to do, including those in progress, and those that wait for another attempt
	Oldest  time.Time // when the oldest of them was created; zero if there is none
	Dead    int       // jobs that failed too often, and were given up
	Faults  []Fault   // the last failures, newest first; at most MaxFaults
}

// leastLook and mostLook bound the pause between two looks at the backlog, which is a tenth of the
// time waited so far: a look at many jobs costs as much as doing some of them.
const leastLook, mostLook = 5 * time.Millisecond, 100 * time.Millisecond

// Settle waits until no work is left; other goroutines or servers do it. It fails if a job is given
// up, or ctx ends.
func Settle(ctx context.Context, w Worker) error {
	began := time.Now()
	for {
		backlog, err := w.Backlog(ctx)
		switch {
		case err != nil:
			return err
		case backlog.Dead > 0:
			return fmt.Errorf("background work was given up: %+v", backlog.Faults)
		case backlog.Waiting == 0:
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w, and background work is left: %+v", ctx.Err(), backlog)
		case <-time.After(min(max(leastLook, time.Since(began)/10), mostLook)):
		}
	}
}

// WorkOff does all remaining work and returns. Errors: those of Settle.
func WorkOff(ctx context.Context, w Worker) error {
	working, rest := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.Work(working)
	}()
	defer func() { rest(); <-done }()
	return Settle(ctx, w)
}

// MaxFaults limits Backlog.Faults.
const MaxFaults = 20

// Fault is a job that has failed.
type Fault struct {
	Job      string // what it does
	Error    string
	Attempts int
	At       time.Time // of the last attempt
	Dead     bool      // it was given up
}
