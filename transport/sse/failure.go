package sse

import (
	"net/http"

	"github.com/vektah/gqlparser/v2/gqlerror"

	"plaza/transport/codes"
)

// Failure is the answer to a failed request that has no stream.
type Failure struct {
	Status  int
	Errs    gqlerror.List
	Counted bool // the executor has reported it already
}

func refused(r *codes.Refusal) *Failure {
	return &Failure{Status: r.Status, Errs: gqlerror.List{r.Err}}
}

func refusef(status int, code, format string, args ...any) *Failure {
	return refused(codes.Refusef(status, code, format, args...))
}

// failed returns the answer to an operation that was rejected before it ran.
func failed(errs gqlerror.List) *Failure {
	return &Failure{Status: statusOf(errs[0]), Errs: errs, Counted: true}
}

func statusOf(err *gqlerror.Error) int {
	switch codes.Of(err) {
	case codes.Unauthenticated:
		return http.StatusUnauthorized
	case codes.RateLimited:
		return http.StatusTooManyRequests
	case codes.Internal:
		return http.StatusInternalServerError
	case codes.Timeout, codes.Unavailable:
		return http.StatusServiceUnavailable
	}
	return http.StatusBadRequest
}

// identityStatus returns the status of the answer to a rejected Authorization.
func identityStatus(err *gqlerror.Error) int {
	if status := statusOf(err); status != http.StatusBadRequest {
		return status
	}
	return http.StatusUnauthorized
}

func unidentified(err *gqlerror.Error) *Failure {
	return &Failure{Status: identityStatus(err), Errs: gqlerror.List{err}}
}

// unknownStream does not reveal whether another user has the stream.
func unknownStream() *Failure {
	return refusef(http.StatusNotFound, codes.BadUserInput, "no stream has this token: reserve one by PUT")
}
