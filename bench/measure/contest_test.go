package measure_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"plaza/bench/measure"
	"plaza/storage/mongodb/mongotest"
)

func newMeter(t *testing.T) *measure.Meter {
	t.Helper()
	meter, err := measure.NewMeter(t.Context(), mongotest.Connect(t, mongotest.URI(t)).Client())
	if err != nil {
		t.Fatal(err)
	}
	return meter
}

// TestTurns: rivals take turns, the first one rotates, and all do the same.
func TestTurns(t *testing.T) {
	var did []string
	turn := func(rival string) measure.Turn {
		return measure.Turn{
			Rival: rival,
			Do:    func(_ context.Context, n int) error { did = append(did, fmt.Sprint(rival, n)); return nil },
			Rest:  func(context.Context) error { did = append(did, "rest"); return nil },
		}
	}
	var progress []int
	c := measure.Contest{Meter: newMeter(t), Rounds: 2, Turn: time.Minute, Progress: func(done, total int) { progress = append(progress, done, total) }}
	results, err := c.Run(t.Context(), []measure.Call{{Name: "count", Most: 2, Turns: []measure.Turn{turn("a"), turn("b")}}})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"a0", "rest", "b0", "rest", // before anything is measured
		"a1", "a2", "rest", "b1", "b2", "rest",
		"b3", "b4", "rest", "a3", "a4", "rest",
	}
	if !slices.Equal(did, want) {
		t.Errorf("they did %v, want %v", did, want)
	}
	if want := []int{1, 4, 2, 4, 3, 4, 4, 4}; !slices.Equal(progress, want) {
		t.Errorf("the progress was %v, want %v", progress, want)
	}
	if len(results) != 2 || len(results[0].Samples) != 2 || results[1].Rival != "b" {
		t.Errorf("the results are %+v", results)
	}
}

// TestCPUTime: the measured CPU time is that of this process, and not more than the machine has.
func TestCPUTime(t *testing.T) {
	const burnt = 30 * time.Millisecond
	burn := func(context.Context, int) error {
		for began := time.Now(); time.Since(began) < burnt; { //nolint:revive // it only takes time
		}
		return nil
	}
	c := measure.Contest{Meter: newMeter(t), Rounds: 3, Turn: time.Nanosecond}
	results, err := c.Run(t.Context(), []measure.Call{
		{Name: "all", Turns: []measure.Turn{{Rival: "one", Do: burn}, {Rival: "ten", Do: burn, Each: 10}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	one, ten := measure.Of(results, "all", "one"), measure.Of(results, "all", "ten")
	if ms := one.Median(measure.ServerMs); ms <= 0 || ms > 200 {
		t.Errorf("%v ms of CPU time, want about 30", ms)
	}
	if ms := one.Median(measure.SlowMs); ms < 30 {
		t.Errorf("the slowest call took %v ms, want 30 or more", ms)
	}
	if ms := ten.Median(measure.WallMs); ms < 3 {
		t.Errorf("%v ms each, want 3 or more", ms)
	}
}

func TestMeterWithoutMongoDB(t *testing.T) {
	meter, err := measure.NewMeter(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if r, err := meter.Read(t.Context()); err != nil || r.Server <= 0 || r.Mongod != 0 {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestContestsEnd(t *testing.T) {
	broken := errors.New("broken")
	c := measure.Contest{Meter: newMeter(t), Rounds: 2, Turn: time.Minute}
	call := func(do func(context.Context, int) error) []measure.Call {
		return []measure.Call{{Name: "try", Turns: []measure.Turn{{Rival: "one", Do: do}}}}
	}
	_, err := c.Run(t.Context(), call(func(_ context.Context, n int) error {
		if n == 3 {
			return broken
		}
		return nil
	}))
	if !errors.Is(err, broken) {
		t.Errorf("%v, want the call's error", err)
	}
	ctx, stop := context.WithCancel(t.Context())
	_, err = c.Run(ctx, call(func(_ context.Context, n int) error {
		if n == 3 {
			stop()
		}
		return ctx.Err()
	}))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want context.Canceled", err)
	}
}

func TestQuantiles(t *testing.T) {
	r := measure.Result{}
	for _, ms := range []int{9, 1, 5, 3, 7} {
		r.Samples = append(r.Samples, measure.Sample{Server: time.Duration(ms) * time.Millisecond})
	}
	if median, spread := r.Median(measure.ServerMs), r.Spread(measure.ServerMs); median != 5 || spread != 2 {
		t.Errorf("the median is %v and the spread %v, want 5 and 2", median, spread)
	}
	r.Samples = r.Samples[:2]
	if median := r.Median(measure.ServerMs); median != 5 {
		t.Errorf("the median of 1 and 9 is %v, want 5", median)
	}
	if median := measure.Of(nil, "none", "no rival").Median(measure.ServerMs); median != 0 {
		t.Errorf("the median of nothing is %v", median)
	}
}
