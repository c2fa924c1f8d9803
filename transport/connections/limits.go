package connections

import "cmp"

// Limits limit how many connections are open at the same time, and how many operations each of them
// runs. A zero field means unlimited, except for the operations.
type Limits struct {
	Server              int // in total: further handshakes get status 503
	Client              int // for each client, by Options.ClientOf: further handshakes get status 429
	SignedOut           int // for each client, signed out: further websockets are closed with 1013, and event streams get status 429
	User                int // for each user, by Options.UserOf: the same
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

// ByName returns the limits by their names in metrics.
func (l Limits) ByName() map[string]int {
	return map[string]int{limitServer: l.Server, limitClient: l.Client, limitSignedOut: l.SignedOut, limitUser: l.User, limitOperations: l.Operations}
}
