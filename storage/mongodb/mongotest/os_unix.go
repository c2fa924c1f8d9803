//go:build unix

package mongotest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// lockFile takes an exclusive lock on the file at path, which it creates if missing, and waits for
// it until ctx ends. The lock ends with unlock, or with the process.
func lockFile(ctx context.Context, path string) (unlock func(), err error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("lock: %w", err)
	}

	// It tries repeatedly, so that ctx can end it: flock itself has no deadline.
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()

	for {
		err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			return func() { _ = file.Close() }, nil
		}

		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) {
			_ = file.Close()

			return nil, fmt.Errorf("lock %s: %w", path, err)
		}

		select {
		case <-ticker.C:
		case <-ctx.Done():
			_ = file.Close()

			return nil, fmt.Errorf("lock %s, held by another process: %w", path, ctx.Err())
		}
	}
}

// ownGroup puts the command into its own process group: a Ctrl-C at the terminal then reaches only
// the process that started it, which ends it in an orderly way.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}

// watchScript waits until its standard input has a line or ends. A line means that the owner has
// already cleaned up. The end without a line means that the owner has died, for whatever reason, so
// the script ends the process $1 and removes the folder $2. It tries again while files are still
// being written there.
const watchScript = `
read -r line && exit 0
kill -KILL "$1" 2>/dev/null
for _ in 1 2 3 4 5 6 7 8 9 10; do
	sleep 0.1
	rm -rf -- "$2" && [ ! -e "$2" ] && exit 0
done
`

// watch starts a shell that ends the process pid and removes folder as soon as this process is
// gone, even after SIGKILL or os.Exit. The shell reads from a pipe whose only writer is this
// process: the kernel closes it when the process ends. (A parent-death signal would do less: it
// only exists on Linux, leaves the folder, and fires when the starting *thread* ends.) The returned
// function stops the shell and waits for its end.
func watch(pid int, folder string) (callOff func(), err error) {
	reader, writer, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("watch: %w", err)
	}

	// No context: the shell has to outlive everything here.
	cmd := exec.Command("/bin/sh", "-c", watchScript, "mongotest-watch", strconv.Itoa(pid), folder) //nolint:noctx
	cmd.Stdin = reader
	ownGroup(cmd)

	err = cmd.Start()
	_ = reader.Close()

	if err != nil {
		_ = writer.Close()

		return nil, fmt.Errorf("watch: %w", err)
	}

	return func() {
		_, _ = writer.WriteString("done\n")
		_ = writer.Close()
		_ = cmd.Wait()
	}, nil
}
