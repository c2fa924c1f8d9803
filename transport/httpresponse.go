package transport

import (
	"net/http"
	"strconv"
	"time"

	"github.com/vektah/gqlparser/v2/gqlerror"

	"plaza/transport/codes"
	"plaza/transport/execution"
)

// answer is the content of one HTTP response.
type answer struct {
	*execution.Answer

	quotas []execution.Quota // for the headers
	once   bool              // for this request only: not to be cached
}

// isPublic reports whether an answer may be cached: it answers a GET of a signed-out client, has no
// errors, and would be the same for every signed-out client.
func isPublic(r *http.Request, a *answer) bool {
	return r.Method == http.MethodGet && r.Header.Get("Authorization") == "" && len(a.Errors) == 0 && !a.once
}

// responder writes responses.
type responder struct {
	executor     *execution.Executor
	publicMaxAge time.Duration // see HTTPOptions
}

// refuse counts a refusal, and responds with it.
func (s *responder) refuse(w http.ResponseWriter, r *http.Request, refusal *codes.Refusal) {
	s.executor.Refused(r.Context(), codes.Of(refusal.Err))
	s.fail(w, r, refusal.Status, gqlerror.List{refusal.Err})
}

// fail responds with errors alone, in the media type that the client prefers if it accepts any. A
// 503 includes when to retry.
func (s *responder) fail(w http.ResponseWriter, r *http.Request, status int, errs gqlerror.List) {
	if status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "1") // seconds
	}
	media, ok := negotiate(r.Header.Values("Accept"))
	if !ok {
		media = mediaJSON
	}
	s.write(w, r, status, media, &answer{Answer: &execution.Answer{Errors: errs}})
}

func (s *responder) write(w http.ResponseWriter, r *http.Request, status int, media string, a *answer) {
	head, tail, err := a.Frame()
	if err != nil { // an extension that does not marshal
		status, a = http.StatusInternalServerError, &answer{Answer: &execution.Answer{Errors: gqlerror.List{s.executor.Present(r.Context(), err)}}}
		if head, tail, err = a.Frame(); err != nil {
			http.Error(w, http.StatusText(status), status)
			return
		}
	}
	status = limitStatus(w.Header(), status, a.Answer)
	setQuotas(w.Header(), a.quotas)
	if isPublic(r, a) && allowCaching(w, r, s.publicMaxAge, media, head, a.Data, tail) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	w.Header().Set("Content-Type", media+"; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(len(head)+len(a.Data)+len(tail)))
	w.WriteHeader(status)
	for _, part := range [][]byte{head, a.Data, tail} {
		if _, err := w.Write(part); err != nil {
			return // the client has disconnected
		}
	}
}
