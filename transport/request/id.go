package request

import (
	"context"
	"crypto/rand"
	"net/http"
	"regexp"
)

const requestIDHeader = "X-Request-Id"

// acceptableID matches the request ids that a proxy may choose.
var acceptableID = regexp.MustCompile(`^[A-Za-z0-9_.:+/=-]{1,128}$`)

type requestIDKey struct{}

// ID returns the id of the request that ctx belongs to: one for each HTTP request (also sent as the
// X-Request-Id header) and one for each operation on a socket. It is "" outside a request.
func ID(ctx context.Context) string {
	id, _ := ctx.Value(requestIDKey{}).(string)
	return id
}

// Identify gives requests their ids before next handles them, so that middleware around the server
// can use them too. A request keeps the id in its X-Request-Id header if that has 1 to 128 letters,
// digits or characters of _.:+/=-; otherwise it gets a random one.
func Identify(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { next.ServeHTTP(w, Identified(w, r)) })
}

// Identified returns the request with its id, which the response will carry.
func Identified(w http.ResponseWriter, r *http.Request) *http.Request {
	if ID(r.Context()) != "" {
		return r
	}
	id := r.Header.Get(requestIDHeader)
	if !acceptableID.MatchString(id) {
		id = rand.Text()
	}
	w.Header().Set(requestIDHeader, id)
	return r.WithContext(context.WithValue(r.Context(), requestIDKey{}, id))
}

// WithNewID returns a context with a new id, for an operation on a connection that carries several.
func WithNewID(ctx context.Context) context.Context {
	return context.WithValue(ctx, requestIDKey{}, rand.Text())
}
