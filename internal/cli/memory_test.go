package cli

import (
	"runtime"
	"sync/atomic"
	"testing"

	"plaza/internal/testtime"
)

func TestGCPercent(t *testing.T) {
	t.Parallel()
	for live, want := range map[uint64]int{0: 400, 10 << 20: 400, 25 << 20: 400, 50 << 20: 200, 100 << 20: 100, 1 << 40: 100} {
		if got := gcPercent(live); got != want {
			t.Errorf("with %d bytes in use it is %d, want %d", live, got, want)
		}
	}
}

func TestAfterEachCollection(t *testing.T) {
	t.Parallel()
	var times atomic.Int32
	afterEachCollection(func() { times.Add(1) })
	for n := range int32(3) {
		testtime.Eventually(t, "the collection is noticed", func() bool { runtime.GC(); return times.Load() > n })
	}
}
