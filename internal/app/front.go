package app

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// front answers HTTP at the server's address, from its first request to its last. Its handler can
// be replaced meanwhile.
type front struct {
	entrance *door
	server   *http.Server
	busy     *busyConnections
	handler  atomic.Pointer[http.Handler]
	start    sync.Once
	failed   chan error // why it accepts no more connections
}

// newFront listens. It answers nothing yet: connections wait.
func (c *Config) newFront(ctx context.Context) (*front, error) {
	listener, err := Listen(ctx, c.Addr)
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %s: %w", c.Addr, err)
	}
	return frontOf(listener), nil
}

func frontOf(listener *net.TCPListener) *front {
	f := &front{entrance: &door{listener}, busy: newBusyConnections(), failed: make(chan error, 1)}
	f.server = &http.Server{
		Handler:           http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { (*f.handler.Load()).ServeHTTP(w, r) }),
		ReadHeaderTimeout: 10 * time.Second,
		WriteTimeout:      writeTimeout, // sockets have their own timeouts
		IdleTimeout:       2 * time.Minute,
		ErrorLog:          slog.NewLogLogger(slog.Default().Handler(), slog.LevelWarn),
		ConnState:         f.busy.note,
	}
	return f
}

// address is host:port.
func (f *front) address() string { return f.entrance.Addr().String() }

// open makes a handler answer all requests from now on.
func (f *front) open(handler http.Handler) {
	f.handler.Store(&handler)
	f.start.Do(func() {
		go func() { f.failed <- f.server.Serve(f.entrance) }()
	})
}

// shut accepts no more connections and keeps the open ones. It returns when all connections that
// were being opened have arrived.
func (f *front) shut() {
	f.entrance.shut()
	<-f.failed //nolint:errcheck // the listener was closed on purpose
}

// close ends the listener and all connections.
func (f *front) close() {
	_ = f.server.Close()
	_ = f.entrance.Close()
}
