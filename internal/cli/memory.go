package cli

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

const (
	// maxPercent is GOGC while little memory is in use. Go collects garbage less often than by
	// default: a request leaves much garbage, and little data lives long.
	maxPercent = 400
	// minPercent is GOGC while much memory is in use, as with many subscribers. It is Go's default.
	minPercent = 100
	// garbageRoom is how many bytes of garbage may gather, within these percentages.
	garbageRoom = 100 << 20
	// memoryShare is the share of the machine's (or container's) memory that may be used before Go
	// collects garbage as often as necessary.
	memoryShare = 0.5
)

// tuneMemory trades memory for speed, unless GOGC or GOMEMLIMIT is set.
func tuneMemory() {
	_, err := memlimit.SetGoMemLimitWithOpts(
		memlimit.WithRatio(memoryShare),
		memlimit.WithProvider(memlimit.ApplyFallback(memlimit.FromCgroup, memlimit.FromSystem)),
	)
	if os.Getenv("GOGC") == "" && err == nil {
		debug.SetGCPercent(maxPercent)
		afterEachCollection(func() { debug.SetGCPercent(gcPercent(liveBytes())) })
	}
}

// gcPercent leaves garbageRoom for garbage beside the live memory, within the bounds.
func gcPercent(live uint64) int {
	return int(min(max(garbageRoom*100/max(live, 1), minPercent), maxPercent))
}

// liveBytes returns how much memory the last collection found in use.
func liveBytes() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// afterEachCollection calls do after each collection of garbage: an object without references is
// cleaned up then, and created again.
func afterEachCollection(do func()) {
	unused := new([16]byte)
	runtime.AddCleanup(unused, func(int) {
		do()
		afterEachCollection(do)
	}, 0)
}
