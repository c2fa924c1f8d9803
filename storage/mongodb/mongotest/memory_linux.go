package mongotest

import (
	"os"

	"golang.org/x/sys/unix"
)

const (
	sharedMemory = "/dev/shm"
	// enoughMemory is how much memory must be free: a run of tests uses a quarter of it.
	enoughMemory = 8 << 30
)

// memoryFolder is a folder in memory, or "" if there is none with enough room, or if TMPDIR names
// another. Every write of a test waits for a journal, and tests only kill servers, never machines:
// a disk would cost time for no benefit.
func memoryFolder() string {
	if os.Getenv("TMPDIR") != "" {
		return ""
	}

	var space unix.Statfs_t
	if unix.Statfs(sharedMemory, &space) != nil || space.Type != unix.TMPFS_MAGIC || space.Bavail*uint64(space.Bsize) < enoughMemory {
		return ""
	}

	return sharedMemory
}
