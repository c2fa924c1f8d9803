//go:build unix

package cli

import (
	"context"
	"net"
	"syscall"
)

// openFiles returns how many files the process may open; 0 if that is unknown.
func openFiles() uint64 {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0
	}
	return uint64(limit.Cur) //nolint:unconvert // signed on some systems
}

// listenPrivately listens on a socket that only the process's user can open. It is removed when the
// listener closes.
func listenPrivately(ctx context.Context, path string) (net.Listener, error) {
	before := syscall.Umask(0o177) // chmod would come too late
	defer syscall.Umask(before)
	return (&net.ListenConfig{}).Listen(ctx, "unix", path)
}
