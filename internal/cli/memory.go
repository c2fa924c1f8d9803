package cli

import (
	"os"
	"runtime/debug"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

const (
	// gcPercent makes Go collect garbage less often than by default: a request leaves much garbage,
	// and little data lives long.
	gcPercent = 400
	// memoryShare is the part of the machine's (or container's) memory that may be used before Go
	// collects garbage as often as necessary.
	memoryShare = 0.5
)

// tuneMemory trades memory for speed, unless GOGC or GOMEMLIMIT say otherwise.
func tuneMemory() {
	_, err := memlimit.SetGoMemLimitWithOpts(
		memlimit.WithRatio(memoryShare),
		memlimit.WithProvider(memlimit.ApplyFallback(memlimit.FromCgroup, memlimit.FromSystem)),
	)
	if os.Getenv("GOGC") == "" && err == nil {
		debug.SetGCPercent(gcPercent)
	}
}
