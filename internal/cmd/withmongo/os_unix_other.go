//go:build unix && !linux

package main

import (
	"os"
	"os/exec"
	"syscall"
)

// dieWithParent puts the command into its own process group, so that a signal reaches it only once,
// from us. Only Linux can do more.
func dieWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}

// awaitParent does nothing here.
func awaitParent(chan<- os.Signal) {}
