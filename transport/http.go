package transport

import (
	"context"
	"net/http"
	"slices"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"plaza/transport/codes"
	"plaza/transport/document"
	"plaza/transport/execution"
	"plaza/transport/request"
)

// overHTTP handles requests with a single response.
type overHTTP struct {
	responder

	options HTTPOptions
}

func newOverHTTP(executor *execution.Executor, options HTTPOptions) *overHTTP {
	options = options.withDefaults()
	return &overHTTP{responder{executor, options.PublicMaxAge}, options}
}

// serve answers a POST or GET. ctx is the request's, and may end earlier.
func (h *overHTTP) serve(ctx context.Context, w http.ResponseWriter, r *http.Request) {
	media, ok := negotiate(r.Header.Values("Accept"))
	if !ok {
		h.refuse(w, r, codes.Refusef(http.StatusNotAcceptable, codes.NotAcceptable, "the Accept header must allow %s or %s", mediaGraphQL, mediaJSON))
		return
	}
	if refusal := checkMethod(w, r); refusal != nil {
		h.refuse(w, r, refusal)
		return
	}
	ctx, cancel := h.executor.WithTimeout(ctx)
	defer cancel()
	if limited := h.executor.Arrive(ctx); limited != nil {
		h.refuse(w, r, codes.Limited(limited))
		return
	}
	authenticated, failure := h.executor.Authenticate(ctx, r.Header.Get("Authorization"))
	if failure != nil && codes.Of(failure) != codes.Unauthenticated {
		h.refuse(w, r, identityRefusal(w, failure))
		return
	}
	req, refusal := h.read(w, r)
	if failure != nil && (refusal != nil || !h.needsNoIdentity(ctx, req)) {
		refusal = identityRefusal(w, failure)
	}
	if refusal != nil {
		h.refuse(w, r, refusal)
		return
	}
	a, refusal := h.answer(authenticated, req, r)
	if refusal != nil {
		if refusal.Status == http.StatusMethodNotAllowed {
			w.Header().Set("Allow", http.MethodPost)
		}
		h.refuse(w, r, refusal)
		return
	}
	status := http.StatusOK
	if a.RequestFailed() && media == mediaGraphQL {
		status = http.StatusBadRequest
	}
	h.write(w, r, status, media, a)
}

// needsNoIdentity reports whether HTTPOptions.SignedOut contains everything that a request selects.
func (h *overHTTP) needsNoIdentity(ctx context.Context, req *request.Request) bool {
	op, errs := h.executor.Check(ctx, req)
	if len(errs) > 0 || op.Kind() != ast.Mutation {
		return false
	}
	return !slices.ContainsFunc(op.RootFields(), func(name string) bool { return !slices.Contains(h.options.SignedOut, name) })
}

// identityRefusal responds to a request whose Authorization was rejected.
func identityRefusal(w http.ResponseWriter, err *gqlerror.Error) *codes.Refusal {
	switch codes.Of(err) {
	case codes.Internal:
		return &codes.Refusal{Status: http.StatusInternalServerError, Err: err}
	case codes.Timeout, codes.Unavailable:
		return &codes.Refusal{Status: http.StatusServiceUnavailable, Err: err}
	}
	w.Header().Set("WWW-Authenticate", "Bearer")
	return &codes.Refusal{Status: http.StatusUnauthorized, Err: err}
}

// answer runs a query or mutation.
func (h *overHTTP) answer(ctx context.Context, req *request.Request, r *http.Request) (a *answer, refusal *codes.Refusal) {
	defer func() {
		if value := recover(); value != nil {
			a, refusal = nil, &codes.Refusal{Status: http.StatusInternalServerError, Err: h.executor.Recovered(ctx, value)}
		}
	}()
	op, quotas, errs := h.executor.Prepare(ctx, req)
	if errs != nil {
		return &answer{Answer: failed(op, errs), quotas: quotas}, nil
	}
	if refusal := checkKind(op.Kind(), r.Method); refusal != nil {
		return nil, refusal
	}
	return &answer{Answer: h.executor.Answer(ctx, op), quotas: quotas, once: h.answersOnce(op)}, nil
}

// failed responds to a request that was rejected before execution. op is known if the reason was
// its cost or a rate limit.
func failed(op *document.Operation, errs gqlerror.List) *execution.Answer {
	if op == nil {
		return &execution.Answer{Errors: errs}
	}
	return &execution.Answer{Errors: errs, Cost: op.Cost}
}

// checkKind rejects mutations by GET, and subscriptions on transports with a single answer.
func checkKind(kind ast.Operation, method string) *codes.Refusal {
	switch {
	case kind == ast.Subscription:
		return codes.Refusef(http.StatusBadRequest, codes.BadUserInput, "subscriptions need a websocket (graphql-transport-ws), or Accept: text/event-stream")
	case kind == ast.Mutation && method == http.MethodGet:
		return codes.Refusef(http.StatusMethodNotAllowed, codes.MethodNotAllowed, "mutations need POST")
	}
	return nil
}

// answersOnce reports whether an operation selects a field of HTTPOptions.Once.
func (h *overHTTP) answersOnce(op *document.Operation) bool {
	return slices.ContainsFunc(op.RootFields(), func(name string) bool { return slices.Contains(h.options.Once, name) })
}
