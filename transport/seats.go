package transport

import (
	"context"
	"net/http"
	"sync"
)

// SocketLimits limit how many websockets are open at the same time, and how many operations each of
// them runs. A zero field means unlimited, except for the operations.
type SocketLimits struct {
	Server              int // all of them: further handshakes are answered with 503
	Client              int // of each client, as Options.ClientOf names it: 429
	SignedOut           int // of each client, signed out: connection_init closes the socket with 1013
	User                int // of each user, as Options.UserOf names them: the same
	Operations          int // subscriptions included. Default 100
	SignedOutOperations int // on a socket that is signed out. Default: Operations
}

func (l SocketLimits) withDefaults() SocketLimits {
	setDefault(&l.Operations, 100)
	setDefault(&l.SignedOutOperations, l.Operations)
	return l
}

// The names of the limits, in errors and in metrics.
const (
	limitServer     = "sockets"
	limitClient     = "sockets-address"
	limitSignedOut  = "sockets-signed-out"
	limitUser       = "sockets-user"
	limitOperations = "socket-operations"
)

// ByName gives each limit as metrics show it.
func (l SocketLimits) ByName() map[string]int {
	return map[string]int{limitServer: l.Server, limitClient: l.Client, limitSignedOut: l.SignedOut, limitUser: l.User, limitOperations: l.Operations}
}

// seat is what a socket takes from one limit.
type seat struct{ limit, of string }

// seats counts the sockets that are open.
type seats struct {
	limits  map[string]int
	refused func(limit string)

	mu    sync.Mutex
	taken map[seat]int
}

func newSeats(o Options) *seats {
	return &seats{limits: o.SocketLimits.ByName(), refused: o.SocketRefused, taken: map[seat]int{}}
}

// take returns false if the limit is reached.
func (s *seats) take(wanted seat) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if limit := s.limits[wanted.limit]; limit > 0 && s.taken[wanted] >= limit {
		s.refused(wanted.limit)
		return false
	}
	s.taken[wanted]++
	return true
}

func (s *seats) leave(taken ...seat) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, seat := range taken {
		if s.taken[seat]--; s.taken[seat] == 0 {
			delete(s.taken, seat)
		}
	}
}

// admit takes the seats of a handshake, or says which limit is reached.
func (s *Server) admit(ctx context.Context) ([]seat, *httpError) {
	all, client := seat{limit: limitServer}, seat{limitClient, s.options.ClientOf(ctx)}
	if !s.seats.take(all) {
		return nil, &httpError{http.StatusServiceUnavailable, newError(CodeUnavailable, "this server has all the websockets that it can serve: try again")}
	}
	if !s.seats.take(client) {
		s.seats.leave(all)
		err := newError(CodeRateLimited, "%d websockets from this address are open: close some", s.options.SocketLimits.Client)
		err.Extensions["limit"], err.Extensions["retryAfter"] = limitClient, 1
		return nil, &httpError{http.StatusTooManyRequests, err}
	}
	return []seat{all, client}, nil
}

// seat takes a socket's last seat, once it is known who has the socket. It returns false if the
// user, or the client who is signed out, has too many.
func (k *socket) seat(authenticated context.Context) bool {
	own := seat{limitUser, k.server.options.UserOf(authenticated)}
	k.maxOperations = k.server.options.SocketLimits.Operations
	if own.of == "" {
		own = seat{limitSignedOut, k.server.options.ClientOf(authenticated)}
		k.maxOperations = k.server.options.SocketLimits.SignedOutOperations
	}
	if !k.server.seats.take(own) {
		return false
	}
	k.seats = append(k.seats, own)
	return true
}
