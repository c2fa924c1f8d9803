package connections

import "cmp"

// Limits limit how many connections are open at the same time, and how many operations each of them
// runs. A zero field means unlimited, except for the operations.
type Limits struct {
	Server              int // all of them: further handshakes are answered with 503
	Client              int // of each client, as Options.ClientOf names it: 429
	SignedOut           int // of each client, signed out: a websocket is closed with 1013, an event stream is answered with 429
	User                int // of each user, as Options.UserOf names them: the same
	Operations          int // subscriptions included. Default 100
	SignedOutOperations int // on a connection that is signed out. Default: Operations
}

func (l Limits) withDefaults() Limits {
	l.Operations = cmp.Or(l.Operations, 100)
	l.SignedOutOperations = cmp.Or(l.SignedOutOperations, l.Operations)
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
func (l Limits) ByName() map[string]int {
	return map[string]int{limitServer: l.Server, limitClient: l.Client, limitSignedOut: l.SignedOut, limitUser: l.User, limitOperations: l.Operations}
}
