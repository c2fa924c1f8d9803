package measure

import (
	"context"
	"errors"
	"fmt"
	"runtime/pprof"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

// Contest lets rivals perform the same operations by turns.
type Contest struct {
	Meter  *Meter
	Rounds int           // number of turns of each rival with each call
	Turn   time.Duration // approximate length of a turn
	// Only limits the calls to those whose names contain this text. Default: all are measured.
	Only string
	// Progress is called after each turn. Default: none.
	Progress func(done, total int)
}

// Call is an operation that all rivals perform.
type Call struct {
	Name  string
	Turns []Turn
	// Most limits the calls of one turn, for calls that affect later ones. Default: unlimited.
	Most int
}

// Turn is one rival's way to perform a call.
type Turn struct {
	Rival string
	Wire  *Wire // nil if nothing is counted
	// Each is how many operations one call of Do performs, if a sample should be the cost of a
	// single operation. Default: 1.
	Each int
	// Goroutines is how many goroutines call Do. Default: 1.
	Goroutines int
	// Do performs the call once. n counts on over all rounds, from 0, and is the same for all
	// rivals.
	Do func(ctx context.Context, n int) error
	// Rest ends a turn, and is not measured: it does the work that Do has left for later. Optional.
	Rest func(ctx context.Context) error
}

// Sample is the cost of one call, the mean of a turn.
type Sample struct {
	Server, Mongod time.Duration // CPU time of this process, and of mongod
	Wall           time.Duration
	Slow           time.Duration // the 99th percentile of the calls' wall-clock time
	Commands       float64       // commands sent to MongoDB
	Answered       float64       // bytes of MongoDB's answers
	Read           float64       // bytes that mongod read into its cache
}

// CPU returns the sample's total CPU time.
func (s Sample) CPU() time.Duration { return s.Server + s.Mongod }

// Result is the cost of a call for a rival, round by round.
type Result struct {
	Call, Rival string
	Samples     []Sample
}

// Run measures all calls in their order. Each call is made once before it is measured.
func (c *Contest) Run(ctx context.Context, calls []Call) ([]Result, error) {
	calls = slices.DeleteFunc(slices.Clone(calls), func(call Call) bool { return !strings.Contains(call.Name, c.Only) })
	var results []Result
	total, done := 0, 0
	for i := range calls {
		total += c.Rounds * len(calls[i].Turns)
	}
	for i := range calls {
		measured, err := c.measure(ctx, &calls[i], func() {
			done++
			if c.Progress != nil {
				c.Progress(done, total)
			}
		})
		if err != nil {
			return nil, err
		}
		results = append(results, measured...)
	}
	return results, nil
}

func (c *Contest) measure(ctx context.Context, call *Call, progress func()) ([]Result, error) {
	results := make([]Result, len(call.Turns))
	for i, turn := range call.Turns {
		results[i] = Result{Call: call.Name, Rival: turn.Rival}
		err := turn.Do(ctx, 0) // after this, queries have plans, and connections are open
		if err == nil {
			err = turn.rest(ctx)
		}
		if err != nil {
			return nil, fmt.Errorf("%s, %s: %w", call.Name, turn.Rival, err)
		}
	}
	next := 1
	for round := range c.Rounds {
		calls := call.Most
		for place := range call.Turns {
			i := (place + round) % len(call.Turns) // rotate, so that each rival is first in turn
			var sample Sample
			var did int
			var err error
			labels := pprof.Labels("call", call.Name, "rival", call.Turns[i].Rival) // go tool pprof -tagfocus=rival=…
			pprof.Do(ctx, labels, func(ctx context.Context) { sample, did, err = c.turn(ctx, call.Turns[i], next, calls) })
			if err != nil {
				return nil, fmt.Errorf("%s, %s: %w", call.Name, call.Turns[i].Rival, err)
			}
			results[i].Samples = append(results[i].Samples, sample)
			calls = max(calls, did)
			progress()
		}
		next += calls
	}
	return results, nil
}

// flushFrom is the shortest turn that mongod is flushed before. In smoke tests, which have shorter
// ones, a flush takes longer than the test.
const flushFrom = 50 * time.Millisecond

// turn measures one turn: it makes calls until the time is over, or until most calls were made (0
// means unlimited).
func (c *Contest) turn(ctx context.Context, t Turn, first, most int) (Sample, int, error) {
	if c.Turn >= flushFrom {
		if err := c.Meter.flush(ctx); err != nil {
			return Sample{}, 0, err
		}
	}
	before, err := c.Meter.Read(ctx)
	if err != nil {
		return Sample{}, 0, err
	}
	commands, answered := t.Wire.totals()
	took, wall, err := c.calls(ctx, &t, first, most)
	if err != nil {
		return Sample{}, len(took), err
	}
	slices.Sort(took)
	n := len(took)
	commandsAfter, answeredAfter := t.Wire.totals()
	after, err := c.Meter.Read(ctx)
	if err != nil {
		return Sample{}, n, err
	}
	used := c.Meter.between(before, after)
	each := n * max(1, t.Each)
	return Sample{
		Server: used.Server / time.Duration(each), Mongod: used.Mongod / time.Duration(each),
		Wall: wall / time.Duration(each), Slow: took[len(took)*99/100],
		Commands: float64(commandsAfter-commands) / float64(each), Answered: float64(answeredAfter-answered) / float64(each),
		Read: float64(used.Read) / float64(each),
	}, n, t.rest(ctx)
}

// calls makes calls until the turn's time is over, or until most calls were made. It returns how
// long each took, and the total time.
func (c *Contest) calls(ctx context.Context, t *Turn, first, most int) (took []time.Duration, wall time.Duration, err error) {
	var mu sync.Mutex
	var begun atomic.Int64
	began := time.Now()
	group, ctx := errgroup.WithContext(ctx)
	for range max(1, t.Goroutines) {
		group.Go(func() error {
			for {
				n := int(begun.Add(1)) - 1
				at := time.Since(began)
				if n > 0 && (most > 0 && n >= most || at >= c.Turn) {
					return nil
				}
				if err := t.Do(ctx, first+n); err != nil {
					return err
				}
				mu.Lock()
				took = append(took, time.Since(began)-at)
				mu.Unlock()
			}
		})
	}
	err = group.Wait()
	return took, time.Since(began), err
}

func (t *Turn) rest(ctx context.Context) error {
	if t.Rest == nil {
		return ctx.Err()
	}
	return errors.Join(ctx.Err(), t.Rest(ctx))
}

// Median returns the median of a value of the samples, over the rounds.
func (r *Result) Median(of func(Sample) float64) float64 { return r.quantile(0.5, of) }

// Spread returns half the distance between the quartiles: about half of the rounds are that close
// to the median.
func (r *Result) Spread(of func(Sample) float64) float64 {
	return (r.quantile(0.75, of) - r.quantile(0.25, of)) / 2
}

// quantile interpolates linearly between the two nearest rounds.
func (r *Result) quantile(q float64, of func(Sample) float64) float64 {
	if len(r.Samples) == 0 {
		return 0
	}
	values := make([]float64, len(r.Samples))
	for i, s := range r.Samples {
		values[i] = of(s)
	}
	slices.Sort(values)
	at := q * float64(len(values)-1)
	low := int(at)
	high := min(low+1, len(values)-1)
	return values[low] + (at-float64(low))*(values[high]-values[low])
}

// Of returns a rival's result for a call, which has no samples if there is none.
func Of(results []Result, call, rival string) *Result {
	for i := range results {
		if results[i].Call == call && results[i].Rival == rival {
			return &results[i]
		}
	}
	return &Result{Call: call, Rival: rival}
}

// Milliseconds of each kind of time, for [Result.Median].
var (
	ServerMs = func(s Sample) float64 { return s.Server.Seconds() * 1000 }
	MongodMs = func(s Sample) float64 { return s.Mongod.Seconds() * 1000 }
	CPUMs    = func(s Sample) float64 { return s.CPU().Seconds() * 1000 }
	WallMs   = func(s Sample) float64 { return s.Wall.Seconds() * 1000 }
	SlowMs   = func(s Sample) float64 { return s.Slow.Seconds() * 1000 }
	Commands = func(s Sample) float64 { return s.Commands }
	Answered = func(s Sample) float64 { return s.Answered }
	ReadIn   = func(s Sample) float64 { return s.Read }
)
