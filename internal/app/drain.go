package app

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"
)

// drainTime is how long requests and sockets have to finish once the listener is closed.
const drainTime = 9 * time.Second

// drain ends a server without failing a request (ADR 30). Readiness fails first, while requests are
// still answered; then the listener closes together with the sockets, and requests under way
// finish.
func (s *Server) drain(f *front) {
	slog.Info("shutting down")
	s.ending.Store(true)
	if s.config.LastCall != nil {
		s.config.LastCall()
	}
	f.shut()
	limit, cancel := context.WithTimeout(context.Background(), drainTime)
	defer cancel()
	s.GraphQL.CloseSockets()
	if err := errors.Join(f.busy.wait(limit), s.GraphQL.Shutdown(limit)); err != nil {
		slog.WarnContext(limit, "closing connections that did not finish in time", "error", err)
	}
}

// busyConnections are those with a request, and new ones, on which a request is expected.
// http.Server.Shutdown tracks them too, but drops requests that it has read just before.
type busyConnections struct {
	mu   sync.Mutex
	busy map[net.Conn]time.Time // zero: a request is running; otherwise the time since when there is none
}

func newBusyConnections() *busyConnections { return &busyConnections{busy: map[net.Conn]time.Time{}} }

// firstRequest is how long a new connection may take to send one during a drain.
const firstRequest = 5 * time.Second

// note implements http.Server's ConnState.
func (c *busyConnections) note(conn net.Conn, state http.ConnState) {
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
func (c *busyConnections) wait(ctx context.Context) error {
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

func (c *busyConnections) areBusy() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, since := range c.busy {
		if since.IsZero() || time.Since(since) < firstRequest {
			return true
		}
	}
	return false
}

// lettingGo ends kept-alive connections, each with its next answer, once the server shuts down.
// Closing them without an answer would race with the next request.
func (s *Server) lettingGo(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.ending.Load() {
			w.Header().Set("Connection", "close")
		}
		next.ServeHTTP(w, r)
	})
}
