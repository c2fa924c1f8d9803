package front

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// WriteTimeout is how long a request may take from its header to the last byte of its answer.
// Sending a body and running an operation take up to 30 s each, which leaves 30 s for a slow
// reader.
const WriteTimeout = 90 * time.Second

// Front answers HTTP at the server's address, from its first request to its last. Its handler can
// be replaced meanwhile.
type Front struct {
	entrance *door
	server   *http.Server
	busy     *connections
	handler  atomic.Pointer[http.Handler]
	start    sync.Once
	failed   chan error
}

// New answers on a listener of [Listen]. Until Open is called it answers nothing: connections wait.
func New(listener *net.TCPListener) *Front {
	f := &Front{entrance: &door{listener}, busy: newConnections(), failed: make(chan error, 1)}
	f.server = &http.Server{
		Handler:           f,
		ReadHeaderTimeout: 10 * time.Second,
		WriteTimeout:      WriteTimeout, // sockets have their own timeouts
		IdleTimeout:       2 * time.Minute,
		ErrorLog:          slog.NewLogLogger(slog.Default().Handler(), slog.LevelWarn),
		ConnState:         f.busy.note,
	}
	return f
}

// Address returns the address as host:port.
func (f *Front) Address() string { return f.entrance.Addr().String() }

// Open makes a handler answer all requests from now on.
func (f *Front) Open(handler http.Handler) {
	f.handler.Store(&handler)
	f.start.Do(func() {
		go func() { f.failed <- f.server.Serve(f.entrance) }()
	})
}

// ServeHTTP answers a request with the handler of the last Open.
func (f *Front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	(*f.handler.Load()).ServeHTTP(w, r)
}

// Shut accepts no more connections and keeps the open ones. It returns when all connections that
// were being opened have arrived.
func (f *Front) Shut() {
	f.entrance.shut()
	<-f.failed //nolint:errcheck // the listener was closed on purpose
}

// Failed returns a channel with the reason why the front accepts no more connections.
func (f *Front) Failed() <-chan error { return f.failed }

// Wait returns when no request is running or expected; it returns ctx's error if ctx ends first.
func (f *Front) Wait(ctx context.Context) error { return f.busy.wait(ctx) }

// Close ends the listener and all connections.
func (f *Front) Close() {
	_ = f.server.Close()
	_ = f.entrance.Close()
}
