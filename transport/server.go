package transport

import (
	"context"
	"net/http"
	"sync"

	"github.com/99designs/gqlgen/graphql"

	"plaza/transport/codes"
	"plaza/transport/connections"
	"plaza/transport/execution"
	"plaza/transport/request"
	"plaza/transport/sse"
	"plaza/transport/websocket"
)

// Server is the http.Handler of a GraphQL endpoint.
//
// The http.Server around it should set ReadHeaderTimeout and no WriteTimeout: operations and bodies
// have their own timeouts.
type Server struct {
	overHTTP    *overHTTP
	websockets  *websocket.Handler
	events      *overEvents
	connections *connections.Registry

	mu       sync.Mutex
	draining bool           // no new requests may begin
	busy     sync.WaitGroup // HTTP requests and handshakes

	// hurry ends when Shutdown has waited long enough, which cancels everything that still runs.
	hurry  context.Context
	cancel context.CancelFunc
}

// New creates a server for a schema. It starts nothing, and panics if a required option is missing.
func New(es graphql.ExecutableSchema, options Options) *Server {
	executor := execution.New(es, options.Documents, options.Execution)
	registry := connections.New(options.Connections)
	http := newOverHTTP(executor, options.HTTP)
	s := &Server{
		overHTTP:    http,
		websockets:  websocket.New(executor, registry, options.WebSocket),
		events:      &overEvents{http, sse.New(executor, registry, options.Events)},
		connections: registry,
	}
	s.hurry, s.cancel = context.WithCancel(context.Background())
	return s
}

// ServeHTTP answers one HTTP request, with an event stream if the client asks for one, or opens a
// websocket, which stays open after ServeHTTP has returned.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r = request.Identified(w, r)
	r = r.WithContext(graphql.StartOperationTrace(r.Context()))
	header := w.Header()
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Cache-Control", "no-store")
	header.Add("Vary", "Accept")
	if !s.begin() {
		header.Set("Connection", "close")
		s.overHTTP.refuse(w, r, codes.ShuttingDown())
		return
	}
	defer s.busy.Done()
	if websocket.IsHandshake(r) {
		if refusal := s.websockets.Open(w, r); refusal != nil {
			s.overHTTP.refuse(w, r, refusal)
		}
		return
	}
	if isAboutEvents(r) {
		s.events.serve(w, r)
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(s.hurry, cancel)()
	s.overHTTP.serve(ctx, w, r)
}

// begin adds a request to busy, unless the server is shutting down. The caller calls busy.Done.
func (s *Server) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.draining {
		return false
	}
	s.busy.Add(1)
	return true
}

// Sockets returns how many websockets and event streams are open.
func (s *Server) Sockets() int { return s.connections.Open() }

// CloseSession ends the sockets and event streams that authenticated with a session: its
// subscriptions immediately, then, after the running queries and mutations (at most the
// FinishTimeout of their options), the socket itself with 4403. It returns without waiting. Call it
// after the token is revoked: Authenticate rejects operations that start later.
func (s *Server) CloseSession(key string) { s.connections.CloseSession(key) }

// CloseSockets closes the sockets with 1001, and event streams (after their queries and mutations,
// at most FinishTimeout; subscriptions end immediately), and rejects new ones with 503. It
// does not wait, and other requests are still served.
func (s *Server) CloseSockets() { s.connections.Close() }

// Shutdown does what CloseSockets does, rejects all new requests with 503, and waits until all
// requests and sockets are done. If ctx ends first, it cancels all running operations, disconnects
// the sockets, and returns ctx's error.
//
// http.Server.Shutdown does not know about sockets: call CloseSockets before it, so that they end
// while it waits for requests, and Shutdown after it, when no more requests can arrive.
func (s *Server) Shutdown(ctx context.Context) error {
	defer s.cancel()
	s.CloseSockets()
	s.mu.Lock()
	s.draining = true
	s.mu.Unlock()
	done := make(chan struct{})
	go func() {
		s.busy.Wait() // afterwards no handshake can open a socket
		s.connections.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		s.connections.Cut()
		return ctx.Err()
	}
}
