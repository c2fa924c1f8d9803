package sse

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"net/http"
	"sync"
	"time"

	"plaza/transport/codes"
	"plaza/transport/connections"
	"plaza/transport/execution"
	"plaza/transport/request"
)

const (
	// tokenHeader and tokenParameter carry the token of a stream that a client has reserved.
	tokenHeader    = "X-Graphql-Event-Stream-Token" //nolint:gosec // a name, not a credential
	tokenParameter = "token"
	// operationID is the extension of a request, and the parameter of DELETE, that names an
	// operation on such a stream.
	operationID = "operationId"

	maxOperationID = 255
	maxQuotedID    = 80
)

// Handler opens streams, and keeps track of those that clients have reserved.
type Handler struct {
	options     Options
	executor    *execution.Executor
	connections *connections.Registry

	mu      sync.Mutex
	streams map[string]*stream // by token
}

// New creates a handler. Its streams run operations with the executor, and register with the
// registry of connections.
func New(executor *execution.Executor, among *connections.Registry, options Options) *Handler {
	return &Handler{options: options.withDefaults(), executor: executor, connections: among, streams: map[string]*stream{}}
}

// TokenOf returns the token of a request for a reserved stream, or "" if it has none.
func TokenOf(r *http.Request) string {
	if token := r.Header.Get(tokenHeader); token != "" {
		return token
	}
	return r.URL.Query().Get(tokenParameter)
}

// Reserve responds with the token of a new stream, which the client then opens.
func (h *Handler) Reserve(w http.ResponseWriter, r *http.Request) *Failure {
	s, failure := h.admit(r, rand.Text())
	if failure != nil {
		return failure
	}
	h.mu.Lock()
	h.streams[s.token] = s
	h.mu.Unlock()
	context.AfterFunc(s.ctx, s.end) // also if it has ended by now
	s.mu.Lock()
	s.timers.open = time.AfterFunc(h.options.OpenTimeout, s.expire)
	s.mu.Unlock()
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(http.StatusCreated)
	_, _ = w.Write([]byte(s.token))
	return nil
}

// expire ends a reservation, unless a request has just opened the stream.
func (s *stream) expire() {
	if s.take() {
		s.cancel()
	}
}

// Open opens the stream that a client has reserved, and returns when the stream has ended. A
// browser can't send its Authorization with an EventSource, so the token is sufficient. It opens
// the stream once.
func (h *Handler) Open(w http.ResponseWriter, r *http.Request) *Failure {
	if failure := h.arrive(r); failure != nil {
		return failure
	}
	s := h.find(TokenOf(r))
	if s == nil || r.Header.Get("Authorization") != "" && !s.belongsTo(r) {
		return unknownStream()
	}
	// The session may have ended since the reservation.
	if _, err := h.executor.Authenticate(r.Context(), s.authorization); err != nil {
		if !codes.IsServers(err) {
			s.cancel()
		}
		return unidentified(err)
	}
	if !s.take() {
		return refusef(http.StatusConflict, codes.BadUserInput, "the stream of this token is open")
	}
	s.serve(w, r)
	return nil
}

// Start starts an operation on a stream that the client has reserved. read reads the request.
func (h *Handler) Start(w http.ResponseWriter, r *http.Request, read func() (*request.Request, *codes.Refusal)) *Failure {
	s, failure := h.own(r)
	if failure != nil {
		return failure
	}
	req, refusal := read()
	if refusal != nil {
		return refused(refusal)
	}
	id, _ := req.Extensions[operationID].(string)
	if id == "" || len(id) > maxOperationID {
		return refusef(http.StatusBadRequest, codes.BadUserInput, "extensions.%s must be a text of 1 to %d bytes", operationID, maxOperationID)
	}
	op, failure := s.start(r, id, req)
	if failure != nil {
		return failure
	}
	select {
	case failure = <-op.outcome:
	case <-r.Context().Done(): // the client can't know that it runs
		op.Cancel()
		return nil
	}
	if failure == nil {
		w.WriteHeader(http.StatusAccepted)
	}
	return failure
}

// Stop ends an operation on a stream that the client has reserved.
func (h *Handler) Stop(w http.ResponseWriter, r *http.Request) *Failure {
	s, failure := h.own(r)
	if failure != nil {
		return failure
	}
	id := r.URL.Query().Get(operationID)
	if id == "" {
		return refusef(http.StatusBadRequest, codes.BadUserInput, "the parameter %s is missing", operationID)
	}
	s.operations.Stop(id)
	w.WriteHeader(http.StatusOK)
	return nil
}

// Stream carries out one operation on a separate stream, and returns when it has ended. read reads
// the request.
func (h *Handler) Stream(w http.ResponseWriter, r *http.Request, read func() (*request.Request, *codes.Refusal)) *Failure {
	s, failure := h.admit(r, "")
	if failure != nil {
		return failure
	}
	defer s.end()
	defer s.cancel()
	defer context.AfterFunc(r.Context(), s.cancel)()
	req, refusal := read()
	if refusal != nil {
		return refused(refusal)
	}
	op, failure := s.start(r, "", req)
	if failure != nil {
		return failure
	}
	failure = <-op.outcome
	switch {
	case failure == nil:
		s.serve(w, r)
	case failure.Status == http.StatusBadRequest: // a client with an EventSource could not read it otherwise
		s.last = s.failed("", failure.Errs)
		s.cancel()
		s.serve(w, r)
		return nil
	}
	return failure
}

// admit creates a stream for the sender of a request if there is a place for it.
func (h *Handler) admit(r *http.Request, token string) (*stream, *Failure) {
	if h.connections.Closed() {
		return nil, refused(codes.ShuttingDown())
	}
	ctx, authorization := r.Context(), r.Header.Get("Authorization")
	if failure := h.arrive(r); failure != nil {
		return nil, failure
	}
	authenticated, err := h.executor.Authenticate(ctx, authorization)
	if err != nil {
		return nil, unidentified(err)
	}
	place, full := h.connections.Admit(ctx)
	if full != nil {
		return nil, refused(full)
	}
	s := h.newStream(ctx, place, token, authorization)
	place.Open(s)
	if !place.SignIn(authenticated) {
		s.cancel()
		place.Close()
		place.Leave()
		return nil, refused(place.TooManyConnections())
	}
	return s, nil
}

// arrive counts a request before it is read, so guessing tokens is limited too.
func (h *Handler) arrive(r *http.Request) *Failure {
	if limited := h.executor.Arrive(r.Context()); limited != nil {
		return refused(codes.Limited(limited))
	}
	return nil
}

// own returns the stream that a request names by its token, if the sender has reserved it.
func (h *Handler) own(r *http.Request) (*stream, *Failure) {
	if failure := h.arrive(r); failure != nil {
		return nil, failure
	}
	s := h.find(TokenOf(r))
	if s == nil || !s.belongsTo(r) {
		return nil, unknownStream()
	}
	return s, nil
}

func (h *Handler) find(token string) *stream {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.streams[token]
}

func (h *Handler) forget(s *stream) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.streams, s.token)
}

// belongsTo reports whether a request has the same Authorization as the one that reserved the
// stream. So a token in the log of a proxy is worthless.
func (s *stream) belongsTo(r *http.Request) bool {
	return subtle.ConstantTimeCompare([]byte(s.authorization), []byte(r.Header.Get("Authorization"))) == 1
}
