// Package testtime adapts the patience of tests to the speed of the machine. All deadlines, leases
// and heartbeats of tests come from here, so that one setting, PLAZA_TEST_SLOWNESS, scales them
// together; without it the machine's speed is measured.
package testtime

import (
	"cmp"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"
)

// EnvSlowness names the environment variable that states how many times slower than usual the
// machine is: a number from 1 to 100.
const EnvSlowness = "PLAZA_TEST_SLOWNESS"

const (
	// patience is the limit for things that take at most a few seconds on an idle machine.
	patience = 2 * time.Minute
	// leastPause and mostPause bound the pause between two checks of a condition, which is a
	// twentieth of the time waited so far: a check may cost a request.
	leastPause = 5 * time.Millisecond
	mostPause  = 100 * time.Millisecond
	// leastLooks is how often a condition is checked before a wait gives up. A machine that hardly
	// runs the test also hardly runs the process that the test waits for.
	leastLooks = 400
	slowest    = 100
)

// Slowness returns how many times slower than usual this machine is, at least 1.
var Slowness = sync.OnceValue(func() float64 {
	if set, err := strconv.ParseFloat(os.Getenv(EnvSlowness), 64); err == nil {
		return within(set)
	}
	return within(measure().Seconds() / usual.Seconds())
})

func within(slowness float64) float64 { return min(max(slowness, 1), slowest) }

// Scale lengthens a duration that suits an idle machine.
func Scale(d time.Duration) time.Duration { return time.Duration(float64(d) * Slowness()) }

// Patience returns how long to wait for something that must happen. It is far longer than
// necessary, because a long limit costs nothing when all is well.
func Patience() time.Duration { return Scale(patience) }

// Eventually waits until a condition holds, and ends the test if it does not within Patience.
func Eventually(tb testing.TB, what string, condition func() bool) {
	tb.Helper()
	if !Becomes(condition) {
		tb.Fatalf("this has not happened: %s", what)
	}
}

// Becomes waits until a condition holds, and reports whether it did within Patience.
func Becomes(condition func() bool) bool {
	began := time.Now()
	deadline := began.Add(Patience())
	for looks := 1; !condition(); looks++ {
		if looks > leastLooks && time.Now().After(deadline) {
			return false
		}
		<-time.After(min(max(leastPause, time.Since(began)/20), mostPause))
	}
	return true
}

// usual is how long the work of measure takes on an idle machine.
const usual = 50 * time.Millisecond

// measure times work that only needs a processor, long enough to include the pauses of a busy or
// throttled one.
func measure() time.Duration {
	const steps = 30_000_000
	began := time.Now()
	x := uint64(began.UnixNano())
	for range steps {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	took := time.Since(began)
	return cmp.Or(took, time.Duration(x&1)) // without a use of x, the compiler would remove the work
}
