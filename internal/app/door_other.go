//go:build !linux

package app

import "net"

// ignoreNewConnections is for Linux: elsewhere connections come until the listener closes.
func ignoreNewConnections(*net.TCPListener) {}

// acceptWaiting is for Linux: elsewhere the connections that wait at that moment are reset.
func acceptWaiting(*net.TCPListener) net.Conn { return nil }
