package cli

import (
	"os"
	"runtime/debug"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

const (
	// gcPercent collects garbage less often than Go does by itself: a request leaves much, and what lives is small.
	gcPercent = 400
	// memoryShare is how much of the machine's (or container's) memory may be used before garbage is collected as
	// often as it takes.
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
