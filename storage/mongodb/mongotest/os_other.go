//go:build !unix

package mongotest

import (
	"context"
	"os/exec"
)

// lockFile does nothing here: nothing is ever fetched on this platform.
func lockFile(context.Context, string) (unlock func(), err error) {
	return func() {}, nil
}

// ownGroup does nothing here.
func ownGroup(*exec.Cmd) {}

// watch does nothing here: [Server.Stop] alone ends the server.
func watch(int, string) (callOff func(), err error) {
	return func() {}, nil
}
