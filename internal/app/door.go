package app

import (
	"context"
	"errors"
	"net"
	"os"
	"time"
)

// lastCall is how long connections that are half open have to become whole before a door is closed: longer than a round trip.
const lastCall = 50 * time.Millisecond

// door is a listener that can be closed without resetting a connection. The kernel accepts connections before the process
// does, and resets those that still wait when a listener is closed; their clients may have sent a request already.
type door struct {
	*net.TCPListener
}

// shut ignores new connections, which try again a second later and are refused then, and lets Accept take those that there are
// before it closes the listener.
func (d *door) shut() {
	ignoreNewConnections(d.TCPListener)
	_ = d.SetDeadline(time.Now().Add(lastCall))
}

// Accept implements net.Listener. It returns net.ErrClosed when the door was shut and nobody waits any more.
func (d *door) Accept() (net.Conn, error) {
	conn, err := d.TCPListener.Accept()
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		return conn, err
	}
	if waiting := acceptWaiting(d.TCPListener); waiting != nil {
		return waiting, nil
	}
	_ = d.Close()
	return nil, net.ErrClosed
}

// Listen opens a listener for Server.Serve.
func Listen(ctx context.Context, address string) (*net.TCPListener, error) {
	var config net.ListenConfig
	config.SetMultipathTCP(false) // Linux has no socket filters for it
	listener, err := config.Listen(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	return listener.(*net.TCPListener), nil //nolint:errcheck,forcetypeassert // "tcp" gives no other
}
