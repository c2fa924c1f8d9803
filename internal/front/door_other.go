//go:build !linux

package front

import (
	"net"
	"time"
)

// ignoreNewConnections works on Linux only: elsewhere connections arrive until the listener closes.
func ignoreNewConnections(*net.TCPListener) {}

// limitSilence works on Linux only: elsewhere the system decides when a silent client is gone.
func limitSilence(*net.TCPListener, time.Duration) {}

// acceptWaiting works on Linux only: elsewhere closing the listener resets the connections that
// wait.
func acceptWaiting(*net.TCPListener) net.Conn { return nil }
