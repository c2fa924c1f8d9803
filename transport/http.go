package transport

import (
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

// httpError is an error whose status does not depend on the media type of the response.
type httpError struct {
	status int
	err    *gqlerror.Error
}

func badRequest(err *gqlerror.Error) *httpError { return &httpError{http.StatusBadRequest, err} }

// serveHTTP answers a POST or GET.
func (s *Server) serveHTTP(w http.ResponseWriter, r *http.Request) {
	media, ok := negotiate(r.Header.Values("Accept"))
	if !ok {
		s.refuse(w, r, http.StatusNotAcceptable, newError(CodeNotAcceptable, "acceptable are %s and %s", mediaGraphQL, mediaJSON))
		return
	}
	if refusal := checkMethod(w, r); refusal != nil {
		s.refuse(w, r, refusal.status, refusal.err)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), s.options.OperationTimeout)
	defer cancel()
	defer context.AfterFunc(s.hurry, cancel)()

	if limited := s.arrive(ctx); limited != nil {
		s.refuse(w, r, http.StatusTooManyRequests, limited)
		return
	}
	authenticated, failure := s.authenticate(ctx, r.Header.Get("Authorization"))
	if failure != nil && errorCode(failure) != CodeUnauthenticated {
		s.refuseIdentity(w, r, failure)
		return
	}
	req, refusal := s.readRequest(w, r)
	if failure != nil && (refusal != nil || !s.needsNoIdentity(ctx, req)) {
		s.refuseIdentity(w, r, failure)
		return
	}
	if refusal != nil {
		s.refuse(w, r, refusal.status, refusal.err)
		return
	}
	a, refusal := s.answerHTTP(authenticated, req, r)
	if refusal != nil {
		if refusal.status == http.StatusMethodNotAllowed {
			w.Header().Set("Allow", http.MethodPost)
		}
		s.refuse(w, r, refusal.status, refusal.err)
		return
	}
	status := http.StatusOK
	if a.requestFailed() && media == mediaGraphQL {
		status = http.StatusBadRequest
	}
	s.write(w, r, status, media, a)
}

// checkMethod lets GET and POST with a JSON body pass.
func checkMethod(w http.ResponseWriter, r *http.Request) *httpError {
	switch r.Method {
	case http.MethodGet:
		return nil
	case http.MethodPost:
		return checkContentType(r.Header)
	}
	w.Header().Set("Allow", "GET, POST")
	return &httpError{http.StatusMethodNotAllowed, newError(CodeMethodNotAllowed, "only GET and POST are allowed")}
}

// checkContentType rejects what a form on a foreign page could send: that would be CSRF.
func checkContentType(header http.Header) *httpError {
	media, params, err := mime.ParseMediaType(header.Get("Content-Type"))
	charset := params["charset"]
	plain := header.Get("Content-Encoding") == "" || strings.EqualFold(header.Get("Content-Encoding"), "identity")
	if err == nil && media == mediaJSON && (charset == "" || strings.EqualFold(charset, "utf-8")) && plain {
		return nil
	}
	return &httpError{
		http.StatusUnsupportedMediaType,
		newError(CodeUnsupportedMediaType, "the request body must be %s in UTF-8, uncompressed", mediaJSON),
	}
}

func (s *Server) readRequest(w http.ResponseWriter, r *http.Request) (*request, *httpError) {
	if r.Method == http.MethodGet {
		req, err := parseQueryString(r.URL.RawQuery)
		return req, requestError(err)
	}
	body, refusal := s.readBody(w, r)
	if refusal != nil {
		return nil, refusal
	}
	req, err := parseRequest(body)
	if err == nil {
		err = req.takeIdempotencyKey(r.Header)
	}
	return req, requestError(err)
}

// requestError presents the errors of reading a request.
func requestError(err error) *httpError {
	var text *textError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &text):
		return badRequest(badText(text))
	}
	return badRequest(newError(CodeBadUserInput, "%v", err))
}

func badText(text *textError) *gqlerror.Error {
	err := newError(CodeBadUserInput, "%v", text)
	err.Extensions["variable"] = text.path
	return err
}

func (s *Server) readBody(w http.ResponseWriter, r *http.Request) ([]byte, *httpError) {
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(s.options.BodyTimeout)) // recorders in tests have none
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, s.options.MaxBodyBytes))
	if err == nil {
		// Left in place, the deadline would cancel an operation that outlives it.
		_ = control.SetReadDeadline(time.Time{})
		return body, nil
	}
	w.Header().Set("Connection", "close")
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return nil, &httpError{
			http.StatusRequestEntityTooLarge,
			newError(CodePayloadTooLarge, "the request body exceeds %d bytes", s.options.MaxBodyBytes),
		}
	}
	return nil, badRequest(newError(CodeBadUserInput, "the request body could not be read"))
}

// answerHTTP runs a query or mutation.
func (s *Server) answerHTTP(ctx context.Context, req *request, r *http.Request) (a *answer, refusal *httpError) {
	defer func() {
		if value := recover(); value != nil {
			a, refusal = nil, &httpError{http.StatusInternalServerError, s.recovered(ctx, value)}
		}
	}()
	op, errs := s.prepare(ctx, req)
	if errs != nil {
		return failedAnswer(op, errs), nil
	}
	if refusal := checkKind(op.kind(), r.Method); refusal != nil {
		return nil, refusal
	}
	handler, ctx := s.dispatch(ctx, op)
	a = newAnswer(handler(ctx), op.cost)
	a.quotas, a.once = op.quotas, s.answersOnce(op)
	return a, nil
}

// failedAnswer responds to a request that was rejected before execution; op is known if its cost
// or a rate limit was the reason.
func failedAnswer(op *operation, errs gqlerror.List) *answer {
	if op == nil {
		return &answer{errors: errs}
	}
	return &answer{errors: errs, cost: op.cost, quotas: op.quotas}
}

// checkKind keeps GET free of effects, and subscriptions off transports with a single answer.
func checkKind(kind ast.Operation, method string) *httpError {
	switch {
	case kind == ast.Subscription:
		return badRequest(newError(CodeBadUserInput, "subscriptions need a websocket (graphql-transport-ws)"))
	case kind == ast.Mutation && method == http.MethodGet:
		return &httpError{http.StatusMethodNotAllowed, newError(CodeMethodNotAllowed, "mutations need POST")}
	}
	return nil
}

// refuseIdentity responds to a request whose Authorization was rejected.
func (s *Server) refuseIdentity(w http.ResponseWriter, r *http.Request, err *gqlerror.Error) {
	switch errorCode(err) {
	case CodeInternal:
		s.refuse(w, r, http.StatusInternalServerError, err)
	case CodeTimeout, CodeUnavailable:
		s.refuse(w, r, http.StatusServiceUnavailable, err)
	default:
		w.Header().Set("WWW-Authenticate", "Bearer")
		s.refuse(w, r, http.StatusUnauthorized, err)
	}
}

// refuse responds with one error, in the media type that the client prefers if it accepts any; a
// 503 says when to retry.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, status int, err *gqlerror.Error) {
	if status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "1") // seconds
	}
	s.options.Refused(r.Context(), errorCode(err))
	media, ok := negotiate(r.Header.Values("Accept"))
	if !ok {
		media = mediaJSON
	}
	s.write(w, r, status, media, &answer{errors: gqlerror.List{err}})
}

func (s *Server) write(w http.ResponseWriter, r *http.Request, status int, media string, a *answer) {
	head, tail, err := a.frame()
	if err != nil { // an extension that does not marshal
		status, a = http.StatusInternalServerError, &answer{errors: gqlerror.List{s.present(r.Context(), err)}}
		if head, tail, err = a.frame(); err != nil {
			http.Error(w, http.StatusText(status), status)
			return
		}
	}
	status = limitStatus(w.Header(), status, a)
	setQuotas(w.Header(), a.quotas)
	if isPublic(r, a) && allowCaching(w, r, s.options.PublicMaxAge, media, head, a.data, tail) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	w.Header().Set("Content-Type", media+"; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(len(head)+len(a.data)+len(tail)))
	w.WriteHeader(status)
	for _, part := range [][]byte{head, a.data, tail} {
		if _, err := w.Write(part); err != nil {
			return // the client left
		}
	}
}
