package connections

import (
	"context"
	"sync"
)

// Options configure a [Registry]. The functions may be called from many goroutines.
type Options struct {
	// Limits limit connections.
	Limits Limits
	// ClientOf names the client of a request's context, such as its address, and UserOf the user of
	// an authenticated context, "" if signed out. Default: all have the same client, and all are
	// signed out.
	ClientOf func(ctx context.Context) string
	UserOf   func(ctx context.Context) string
	// SessionKey names the session that an authenticated context belongs to, for
	// [Registry.CloseSession]; "" for none. A token's hash is suitable. Default: none.
	SessionKey func(ctx context.Context) string
	// GroupKey names the sessions that end together with that one, also for
	// [Registry.CloseSession]; "" for none. Default: none.
	GroupKey func(ctx context.Context) string
	// Refused is called with the name of a limit that is reached. Default: none.
	Refused func(limit string)
}

func (o Options) withDefaults() Options {
	o.Limits = o.Limits.withDefaults()
	unnamed := func(context.Context) string { return "" }
	if o.ClientOf == nil {
		o.ClientOf = unnamed
	}
	if o.UserOf == nil {
		o.UserOf = unnamed
	}
	if o.SessionKey == nil {
		o.SessionKey = unnamed
	}
	if o.GroupKey == nil {
		o.GroupKey = unnamed
	}
	if o.Refused == nil {
		o.Refused = func(string) {}
	}
	return o
}

// Connection is a long-lived connection.
type Connection interface {
	// Drain rejects new operations, ends subscriptions, lets queries and mutations finish for a
	// time, and then closes the connection. Only the first call counts.
	Drain(Reason)
	// Cut ends the connection without notice.
	Cut()
}

// Reason is why a connection is drained.
type Reason int

const (
	// ServerEnds: the client should connect to another server.
	ServerEnds Reason = iota
	// SessionEnds: the client must sign in again.
	SessionEnds
)

// Registry keeps track of the connections of a server.
type Registry struct {
	options Options
	seats   *seats
	present sync.WaitGroup // places

	mu       sync.Mutex
	closed   bool
	cut      bool
	open     map[Connection]struct{}
	sessions map[string]map[Connection]struct{}
}

// New creates a registry.
func New(options Options) *Registry {
	options = options.withDefaults()
	return &Registry{
		options:  options,
		seats:    newSeats(options.Limits, options.Refused),
		open:     map[Connection]struct{}{},
		sessions: map[string]map[Connection]struct{}{},
	}
}

// CloseSession drains the connections that authenticated with a session, or with one of a group. It
// returns without waiting.
func (r *Registry) CloseSession(key string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for c := range r.sessions[key] {
		go c.Drain(SessionEnds)
	}
}

// Close drains all connections, and any that are opened later. It returns without waiting.
func (r *Registry) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	for c := range r.open {
		go c.Drain(ServerEnds)
	}
}

// Closed reports whether no connection should be opened any more.
func (r *Registry) Closed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.closed
}

// Cut cuts all connections, and any that are opened later. It returns without waiting.
func (r *Registry) Cut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cut = true
	for c := range r.open {
		go c.Cut()
	}
}

// Wait waits until all places are left. Do not call Admit afterwards.
func (r *Registry) Wait() { r.present.Wait() }

// Open returns how many connections are open.
func (r *Registry) Open() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.open)
}

// Empty reports whether there are no places and no sessions left.
func (r *Registry) Empty() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.open) == 0 && len(r.sessions) == 0 && r.seats.free()
}
