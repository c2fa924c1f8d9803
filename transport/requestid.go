package transport

import (
	"context"
	"crypto/rand"
)

type requestIDKey struct{}

// RequestID gives the id of the request that ctx belongs to: one for each HTTP request (also sent
// as the X-Request-Id header) and one for each operation on a socket. It is "" outside a request.
func RequestID(ctx context.Context) string {
	id, _ := ctx.Value(requestIDKey{}).(string)
	return id
}

func withRequestID(ctx context.Context) (context.Context, string) {
	id := rand.Text()
	return context.WithValue(ctx, requestIDKey{}, id), id
}
