package transport

import (
	"net/http"

	"github.com/vektah/gqlparser/v2/gqlerror"

	"plaza/transport/codes"
	"plaza/transport/request"
	"plaza/transport/sse"
)

// overEvents passes requests to streams of server-sent events.
type overEvents struct {
	*overHTTP

	streams *sse.Handler
}

// isAboutEvents reports whether a request asks for an event stream, or belongs to one.
func isAboutEvents(r *http.Request) bool {
	switch r.Method {
	case http.MethodPut, http.MethodDelete:
		return true
	case http.MethodGet, http.MethodPost:
		return sse.TokenOf(r) != "" || prefersEvents(r.Header.Values("Accept"))
	}
	return false
}

// serve answers a request that isAboutEvents. If it serves a stream, it returns when the stream
// ends.
func (e *overEvents) serve(w http.ResponseWriter, r *http.Request) {
	if failure := e.lead(w, r); failure != nil {
		e.refuseStream(w, r, failure)
	}
}

func (e *overEvents) lead(w http.ResponseWriter, r *http.Request) *sse.Failure {
	switch r.Method {
	case http.MethodPut:
		return e.streams.Reserve(w, r)
	case http.MethodDelete:
		return e.streams.Stop(w, r)
	}
	read := func() (*request.Request, *codes.Refusal) {
		if refusal := checkMethod(w, r); refusal != nil {
			return nil, refusal
		}
		return e.overHTTP.read(w, r)
	}
	events, reserved := prefersEvents(r.Header.Values("Accept")), sse.TokenOf(r) != ""
	switch {
	case !reserved:
		return e.streams.Stream(w, r, read)
	case !events:
		return e.streams.Start(w, r, read)
	case r.Method != http.MethodGet:
		w.Header().Set("Allow", http.MethodGet)
		return &sse.Failure{Status: http.StatusMethodNotAllowed, Errs: gqlerror.List{codes.Errorf(codes.MethodNotAllowed, "use GET to open a reserved stream")}}
	}
	return e.streams.Open(w, r)
}

// refuseStream responds with the errors of a request that has no stream.
func (e *overEvents) refuseStream(w http.ResponseWriter, r *http.Request, failure *sse.Failure) {
	switch failure.Status {
	case http.StatusUnauthorized:
		w.Header().Set("WWW-Authenticate", "Bearer")
	case http.StatusMethodNotAllowed:
		if w.Header().Get("Allow") == "" {
			w.Header().Set("Allow", http.MethodPost)
		}
	}
	if !failure.Counted {
		e.executor.Refused(r.Context(), codes.Of(failure.Errs[0]))
	}
	e.fail(w, r, failure.Status, failure.Errs)
}
