package front

import (
	"context"
	"errors"
	"net"
	"os"
	"time"
)

// lastCall is how long half-open connections have to complete their handshake before a door is
// closed: longer than a round trip.
const lastCall = 50 * time.Millisecond

// door is a listener that can be closed without resetting a connection. The kernel completes
// handshakes before the process accepts the connections; when a listener is closed, it resets those
// that still wait, although their clients may have sent a request already.
type door struct {
	*net.TCPListener
}

// shut ignores new connections: their clients try again a second later, and are then refused.
// Accept returns those that are already open, and then closes the listener.
func (d *door) shut() {
	ignoreNewConnections(d.TCPListener)
	_ = d.SetDeadline(time.Now().Add(lastCall))
}

// Accept implements net.Listener. It returns net.ErrClosed when the door is shut and no connection
// waits any more.
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

// silenceTimeout is how long a client's machine may leave data unacknowledged before its connection
// fails. The kernel alone would try again for a quarter of an hour. It equals the time that a
// client of an event stream has to read an event.
const silenceTimeout = 45 * time.Second

// Listen opens a listener for [New].
func Listen(ctx context.Context, address string) (*net.TCPListener, error) {
	var config net.ListenConfig
	config.SetMultipathTCP(false) // Linux has no socket filters for multipath TCP
	listener, err := config.Listen(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	tcp := listener.(*net.TCPListener) //nolint:errcheck,forcetypeassert // "tcp" always gives a *net.TCPListener
	limitSilence(tcp, silenceTimeout)
	return tcp, nil
}
