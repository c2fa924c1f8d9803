//go:build !unix

package cli

import (
	"context"
	"errors"
	"net"
)

// openFiles returns how many files the process may open; 0 if that is unknown.
func openFiles() uint64 { return 0 }

// listenPrivately does nothing on this system: commands need the server to stop.
func listenPrivately(context.Context, string) (net.Listener, error) {
	return nil, errors.ErrUnsupported
}
