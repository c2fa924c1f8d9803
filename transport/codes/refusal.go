package codes

import (
	"net/http"

	"github.com/vektah/gqlparser/v2/gqlerror"
)

// Refusal is an error that is the whole answer to an HTTP request, with a status that does not
// depend on the media type of the answer.
type Refusal struct {
	Status int
	Err    *gqlerror.Error
}

// Refusef returns a refusal.
func Refusef(status int, code, format string, args ...any) *Refusal {
	return &Refusal{status, Errorf(code, format, args...)}
}

// Limited returns the refusal of requests that a rate limit refuses.
func Limited(err *gqlerror.Error) *Refusal {
	return &Refusal{http.StatusTooManyRequests, err}
}

// ShuttingDown returns the refusal of requests that arrive during a shutdown.
func ShuttingDown() *Refusal {
	return Refusef(http.StatusServiceUnavailable, Unavailable, "the server is shutting down; try again")
}

// IsServers reports whether an error is the server's fault or state, and says nothing about the
// request.
func IsServers(err *gqlerror.Error) bool {
	switch Of(err) {
	case Internal, Timeout, Unavailable:
		return true
	}
	return false
}

// IsTemporary reports whether the same request may succeed later.
func IsTemporary(err *gqlerror.Error) bool {
	switch Of(err) {
	case RateLimited, Timeout, Unavailable:
		return true
	}
	return false
}
