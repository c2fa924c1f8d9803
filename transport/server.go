// Package transport serves an executable GraphQL schema over HTTP and over websockets, on one path.
//
// HTTP follows the GraphQL-over-HTTP specification: POST with a JSON body, GET for queries, and the
// answer as application/json or application/graphql-response+json. Websockets speak
// graphql-transport-ws, or the older graphql-ws of subscriptions-transport-ws. A request is parsed, held to [Limits], validated and costed before anything
// of it runs.
//
// gqlgen executes; its own transports are not used, because they break these documents.
package transport

import (
	"context"
	"net/http"
	"sync"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/99designs/gqlgen/graphql/handler/lru"
	"github.com/gorilla/websocket"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/validator/rules"
)

// Server is the http.Handler of a GraphQL endpoint.
//
// The http.Server around it should set ReadHeaderTimeout and no WriteTimeout: operations and bodies
// have their own timeouts.
type Server struct {
	schema    graphql.ExecutableSchema
	options   Options
	executor  *executor.Executor
	events    *executor.Executor // of streams: without AroundOperations
	rules     *rules.Rules
	documents graphql.Cache[*ast.QueryDocument]
	persisted documents

	upgrader websocket.Upgrader
	seats    *seats

	mu       sync.Mutex
	closed   bool // to sockets
	draining bool // nothing new may begin
	sockets  map[*socket]struct{}
	sessions map[string]map[*socket]struct{}
	busy     sync.WaitGroup // HTTP requests and sockets

	// hurry ends when Shutdown has waited long enough: whatever still runs is cancelled.
	hurry  context.Context
	cancel context.CancelFunc
}

// New creates a server for a schema. It starts nothing, and panics if a required option is missing.
func New(es graphql.ExecutableSchema, options Options) *Server {
	options = options.withDefaults()
	s := &Server{
		schema:    es,
		options:   options,
		executor:  newExecutor(es, options, options.AroundOperations),
		events:    newExecutor(es, options, nil),
		rules:     newRules(),
		documents: lru.New[*ast.QueryDocument](options.CachedDocuments),
		persisted: newDocuments(options),
		sockets:   map[*socket]struct{}{},
		sessions:  map[string]map[*socket]struct{}{},
	}
	s.upgrader = newUpgrader(options)
	s.seats = newSeats(options)
	s.hurry, s.cancel = context.WithCancel(context.Background())
	return s
}

// newExecutor sets gqlgen's executor up for dispatching only: documents are prepared in this
// package.
func newExecutor(es graphql.ExecutableSchema, options Options, aroundOperations []graphql.OperationMiddleware) *executor.Executor {
	exec := executor.New(es)
	exec.SetErrorPresenter(options.ErrorPresenter)
	exec.SetRecoverFunc(options.Recover)
	for _, around := range aroundOperations {
		exec.AroundOperations(around)
	}
	for _, around := range options.AroundResponses {
		exec.AroundResponses(around)
	}
	return exec
}

// ServeHTTP answers one HTTP request, or opens a websocket, which goes on after it has returned.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r = identified(w, r)
	r = r.WithContext(graphql.StartOperationTrace(r.Context()))
	header := w.Header()
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Cache-Control", "no-store")
	header.Add("Vary", "Accept")
	if !s.begin() {
		header.Set("Connection", "close")
		s.refuse(w, r, http.StatusServiceUnavailable, errShuttingDown())
		return
	}
	// Server-sent events will branch off here, on Accept: text/event-stream.
	if websocket.IsWebSocketUpgrade(r) {
		s.serveWebSocket(w, r)
		return
	}
	defer s.busy.Done()
	s.serveHTTP(w, r)
}

// begin counts a request or socket in, unless the server is shutting down; busy.Done counts it out.
func (s *Server) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.draining {
		return false
	}
	s.busy.Add(1)
	return true
}

// CloseSockets closes the sockets with 1001 (after their queries and mutations, at most
// Options.FinishTimeout; subscriptions end immediately) and rejects new ones with 503. It does not
// wait, and other requests are still served.
func (s *Server) CloseSockets() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for socket := range s.sockets {
		go socket.drain(websocket.CloseGoingAway, "Going away")
	}
}

// Shutdown does what CloseSockets does, rejects all new requests with 503, and waits until all
// requests and sockets are done. When ctx ends first, it cancels what still runs, disconnects the
// sockets, and returns ctx's error.
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
		s.busy.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
