//go:build unix

package measure

import (
	"syscall"
	"time"
)

// ownCPU returns the CPU time that this process has used, in all its threads.
func ownCPU() (time.Duration, error) {
	var u syscall.Rusage
	err := syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), err
}
