package connections

import (
	"context"
	"net/http"

	"github.com/vektah/gqlparser/v2/gqlerror"

	"plaza/transport/codes"
)

// Place is what one connection uses: a seat of each limit, and later a session.
type Place struct {
	registry   *Registry
	seats      []seat
	operations int
	refusedBy  string // the limit because of which SignIn returned false

	connection Connection
	sessions   []string // the session and its group; guarded by Registry.mu
}

// Admit returns a place for a client's connection, or an error if a limit is reached. The caller
// must leave the place at the end.
func (r *Registry) Admit(ctx context.Context) (*Place, *codes.Refusal) {
	all, client := seat{limit: limitServer}, seat{limitClient, r.options.ClientOf(ctx)}
	if !r.seats.take(all) {
		return nil, codes.Refusef(http.StatusServiceUnavailable, codes.Unavailable, "this server has all the connections that it can serve: try again")
	}
	if !r.seats.take(client) {
		r.seats.leave(all)
		refusal := codes.Refusef(http.StatusTooManyRequests, codes.RateLimited, "%d connections from this address are open: close some", r.options.Limits.Client)
		refusal.Err.Extensions["limit"], refusal.Err.Extensions["retryAfter"] = limitClient, 1
		return nil, refusal
	}
	r.present.Add(1)
	return &Place{registry: r, seats: []seat{all, client}}, nil
}

// Open registers the connection.
func (p *Place) Open(c Connection) {
	p.connection = c
	r := p.registry
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open[c] = struct{}{}
	if r.closed { // it was closed after the check
		go c.Drain(ServerEnds)
	}
	if r.cut {
		go c.Cut()
	}
}

// SignIn takes the connection's last seat, once its user is known, and registers the connection for
// [Registry.CloseSession]. It returns false if the user, or the signed-out client, has too many
// connections.
func (p *Place) SignIn(authenticated context.Context) bool {
	options := &p.registry.options
	own := seat{limitUser, options.UserOf(authenticated)}
	p.operations = options.Limits.Operations
	if own.of == "" {
		own = seat{limitSignedOut, options.ClientOf(authenticated)}
		p.operations = options.Limits.SignedOutOperations
	}
	if !p.registry.seats.take(own) {
		p.refusedBy = own.limit
		return false
	}
	p.seats = append(p.seats, own)
	p.join(options.SessionKey(authenticated))
	p.join(options.GroupKey(authenticated))
	return true
}

// TooManyConnections returns the answer to a request for a connection that SignIn has refused.
func (p *Place) TooManyConnections() *codes.Refusal {
	refusal := codes.Refusef(http.StatusTooManyRequests, codes.RateLimited, "you have too many open connections: close some")
	refusal.Err.Extensions["limit"], refusal.Err.Extensions["retryAfter"] = p.refusedBy, 1
	return refusal
}

func (p *Place) join(session string) {
	if session == "" {
		return
	}
	r := p.registry
	r.mu.Lock()
	defer r.mu.Unlock()
	p.sessions = append(p.sessions, session)
	if r.sessions[session] == nil {
		r.sessions[session] = map[Connection]struct{}{}
	}
	r.sessions[session][p.connection] = struct{}{}
}

// Operations returns how many operations the connection may run concurrently, once SignIn has
// returned true.
func (p *Place) Operations() int { return p.operations }

// TooManyOperations returns the error for an operation beyond that number, and reports it to
// Options.Refused.
func (p *Place) TooManyOperations() *gqlerror.Error {
	err := codes.Errorf(codes.RateLimited, "more than %d concurrent operations on this connection", p.operations)
	err.Extensions["limit"] = limitOperations
	p.registry.options.Refused(limitOperations)
	return err
}

// Close unregisters the connection.
func (p *Place) Close() {
	r := p.registry
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.open, p.connection)
	for _, session := range p.sessions {
		members := r.sessions[session]
		delete(members, p.connection)
		if len(members) == 0 {
			delete(r.sessions, session)
		}
	}
}

// Leave releases the seats. Call it when the connection and its operations have ended, or if it was
// never opened.
func (p *Place) Leave() {
	p.registry.seats.leave(p.seats...)
	p.registry.present.Done()
}
