package front

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"
)

// connections are those with a request, and new ones, on which a request is expected.
// http.Server.Shutdown tracks these, too, but drops requests that it has read just before.
type connections struct {
	mu   sync.Mutex
	busy map[net.Conn]time.Time // zero while a request is running; otherwise the time since when there is none
}

func newConnections() *connections { return &connections{busy: map[net.Conn]time.Time{}} }

// firstRequest is how long a new connection may take to send its first request during a drain.
const firstRequest = 5 * time.Second

// note implements http.Server's ConnState.
func (c *connections) note(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch state {
	case http.StateNew:
		c.busy[conn] = time.Now()
	case http.StateActive:
		c.busy[conn] = time.Time{}
	default: // idle, closed, or a websocket
		delete(c.busy, conn)
	}
}

// wait returns when no request is running or expected; it returns ctx's error if ctx ends first.
func (c *connections) wait(ctx context.Context) error {
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	for c.areBusy() {
		select {
		case <-again.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

func (c *connections) areBusy() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, since := range c.busy {
		if since.IsZero() || time.Since(since) < firstRequest {
			return true
		}
	}
	return false
}
