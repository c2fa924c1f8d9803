package mongotest

import (
	"os"

	"golang.org/x/sys/unix"
)

const (
	sharedMemory = "/dev/shm"
	// enoughMemory is what must be free there: a run of tests fills a quarter of it.
	enoughMemory = 8 << 30
)

// memoryFolder is a folder in memory, or "" where there is none with enough room, or TMPDIR names
// another. Every write of a test waits for a journal, and tests end servers, never machines: a disk
// would cost them time for nothing.
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
