package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// dieWithParent puts the command into its own process group, so that a signal reaches it only once,
// from us, and makes the kernel end it when the thread that starts it ends: the main thread.
func dieWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}

// orphaned explains an end that surprises those who run withmongo in the background of a shell.
const orphaned = "withmongo: the process that started it has ended: it ends the command and MongoDB, too"

// awaitParent sends SIGTERM into signals when this process's parent has ended. The kernel notifies
// it of that. It does not watch if init has already adopted the process, or if the kernel has no
// pidfd_open.
func awaitParent(signals chan<- os.Signal) {
	parent := os.Getppid()
	if parent == 1 {
		return
	}

	file, err := unix.PidfdOpen(parent, 0)
	if err != nil {
		return
	}

	if os.Getppid() == parent { // otherwise it ended before, and the number may belong to another process
		poll := []unix.PollFd{{Fd: int32(file), Events: unix.POLLIN}}

		for errors.Is(pollOnce(poll), unix.EINTR) {
		}
	}

	fmt.Fprintln(os.Stderr, orphaned)
	signals <- syscall.SIGTERM
}

func pollOnce(poll []unix.PollFd) error {
	_, err := unix.Poll(poll, -1)

	return err
}
