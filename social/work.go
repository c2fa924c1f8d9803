package social

import (
	"context"
	"fmt"
	"time"
)

// Worker does what an engine leaves for later, such as telling an author's followers of a post. No write waits for it. A job is
// stored in the transaction of the write that causes it, and done at least once, by any server on the database; to
// do one again changes nothing. While there is work left, News and Wall may lack their newest entries.
type Worker interface {
	// Work does jobs until ctx ends, and returns when those under way are done, a few seconds later at most.
	Work(ctx context.Context)
	// Backlog says what is left to do.
	Backlog(ctx context.Context) (Backlog, error)
	// Revive gives the jobs that were given up new attempts, and says how many they are.
	Revive(ctx context.Context) (int, error)
}

// Backlog is the work that is left.
type Backlog struct {
	Waiting int       // jobs to do, with those under way, and those that wait for another attempt
	Oldest  time.Time // when the oldest of them was made; zero where there is none
	Dead    int       // jobs that failed too often, and were given up
	Faults  []Fault   // what failed last, newest first; at most MaxFaults
}

const lookEvery = 5 * time.Millisecond

// Settle waits until nothing is left to do, which others do meanwhile. It ends with an error when a job is given up, or ctx ends.
func Settle(ctx context.Context, w Worker) error {
	again := time.NewTicker(lookEvery)
	defer again.Stop()
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
		case <-again.C:
		}
	}
}

// WorkOff does all the work that is left, and nothing else. Errors: those of Settle.
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

// MaxFaults bounds Backlog.Faults.
const MaxFaults = 20

// Fault is a job that has failed.
type Fault struct {
	Job      string // what it does
	Error    string
	Attempts int
	At       time.Time // of the last attempt
	Dead     bool      // it was given up
}
