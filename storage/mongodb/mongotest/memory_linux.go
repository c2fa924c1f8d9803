package mongotest

import (
	"bytes"
	"io/fs"
	"math"
	"os"
	"path"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

const (
	sharedMemory = "/dev/shm"
	// enoughMemory is how much memory must be free: a run of tests uses a quarter of it.
	enoughMemory = 8 << 30
)

// MemoryFolder is a folder in memory, or "" if there is none with enough room, or if TMPDIR names
// another. Every write of a test waits for a journal, and tests only kill servers, never machines:
// a disk would cost time for no benefit.
func MemoryFolder() string {
	if os.Getenv("TMPDIR") != "" {
		return ""
	}

	var space unix.Statfs_t
	if unix.Statfs(sharedMemory, &space) != nil || space.Type != unix.TMPFS_MAGIC || space.Bavail*uint64(space.Bsize) < enoughMemory {
		return ""
	}
	// The size of that file system is a limit, and no promise.
	if system := os.DirFS("/"); availableMemory(system) < enoughMemory || memoryLimit(system) < enoughMemory {
		return ""
	}

	return sharedMemory
}

// availableMemory is how much memory the machine can give without swapping, in bytes; 0 if it does
// not say.
func availableMemory(system fs.FS) uint64 {
	content, _ := fs.ReadFile(system, "proc/meminfo")
	for line := range strings.Lines(string(content)) {
		if fields := strings.Fields(line); len(fields) == 3 && fields[0] == "MemAvailable:" && fields[2] == "kB" {
			kib, _ := strconv.ParseUint(fields[1], 10, 54)
			return kib << 10
		}
	}
	return 0
}

// memoryLimit is the lowest memory limit of the control groups that this process is in, in bytes.
func memoryLimit(system fs.FS) uint64 {
	limit := uint64(math.MaxUint64)
	content, _ := fs.ReadFile(system, "proc/self/cgroup")
	for line := range strings.Lines(string(content)) { // ID:CONTROLLERS:PATH; version 2 names no controllers
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		root, file := "sys/fs/cgroup", "memory.max"
		if parts[1] != "" {
			root, file = "sys/fs/cgroup/memory", "memory.limit_in_bytes"
		}
		if parts[1] == "" || parts[1] == "memory" {
			limit = min(limit, lowestLimit(system, root, parts[2], file))
		}
	}
	return limit
}

// lowestLimit is the lowest limit of a control group and of those above it. In a container the path
// may be the host's: then only the root is there.
func lowestLimit(system fs.FS, root, group, file string) uint64 {
	limit := uint64(math.MaxUint64)
	for group = path.Clean("/" + group); ; group = path.Dir(group) {
		content, _ := fs.ReadFile(system, path.Join(root, group, file))
		if n, err := strconv.ParseUint(string(bytes.TrimSpace(content)), 10, 64); err == nil { // "max" is none
			limit = min(limit, n)
		}
		if group == "/" {
			return limit
		}
	}
}
