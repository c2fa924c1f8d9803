//go:build !linux

package front

import "net"

// ignoreNewConnections works on Linux only: elsewhere connections arrive until the listener closes.
func ignoreNewConnections(*net.TCPListener) {}

// acceptWaiting works on Linux only: elsewhere closing the listener resets the connections that
// wait.
func acceptWaiting(*net.TCPListener) net.Conn { return nil }
