//go:build unix

package main

import (
	"os"
	"os/exec"
	"syscall"
)

// passOn sends a signal to the command and to everything in its process group: "go test" does not
// pass signals on to the tests, because it expects the terminal to do so.
func passOn(cmd *exec.Cmd, sig os.Signal) {
	if sig, ok := sig.(syscall.Signal); ok {
		_ = syscall.Kill(-cmd.Process.Pid, sig)
	}
}
