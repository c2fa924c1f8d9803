package execution

import (
	"cmp"
	"context"
	"time"

	"github.com/99designs/gqlgen/graphql"
)

// Options configure an [Executor]. ErrorPresenter and Recover are required; every other zero field
// means its default. The functions may be called from many goroutines.
type Options struct {
	// Authenticate converts an Authorization header's value ("" if there is none, which normally
	// means anonymous and no error) to the context that the operation runs in. It is called once
	// for each HTTP request. On a websocket it is called once for connection_init, with the
	// "Authorization" of its payload (or else the handshake's header), and again with the same
	// value for each operation, because a token can be revoked in between. The returned context
	// must derive from the given one. Default: everyone is anonymous.
	//
	// An error rejects the request: 401 over HTTP; a websocket is closed with 4403. If
	// ErrorPresenter turns it into UNAVAILABLE or TIMEOUT (the database does not answer), it is 503
	// over HTTP, 1013 in connection_init, and an error message for an operation; INTERNAL is 500,
	// 1011 and an error message.
	Authenticate func(ctx context.Context, authorization string) (context.Context, error)

	// AroundOperations wrap each operation, the first outermost. They install the loaders for
	// queries and mutations.
	AroundOperations []graphql.OperationMiddleware
	// AroundResponses wrap each response: that of a query or mutation, and each one for an event of
	// a subscription.
	AroundResponses []graphql.ResponseMiddleware

	// ErrorPresenter converts an error that a resolver, Authenticate or Recover returned to the
	// error that a client sees; [request.ID] identifies the request. Required.
	ErrorPresenter graphql.ErrorPresenterFunc
	// Recover converts a panic to an error. Required.
	Recover graphql.RecoverFunc

	// Arrive counts a request, the handshake of a websocket or an operation on one, before it is
	// read. Charge counts an operation before it runs, in its authenticated context. A Quota with a
	// RetryAfter rejects it with RATE_LIMITED: status 429, or an error message on a websocket.
	// Answers over HTTP carry the quotas of Charge as RateLimit headers. Default: no limits.
	Arrive func(ctx context.Context) []Quota
	Charge func(ctx context.Context, charge Charge) []Quota
	// Work charges what precedes an operation and depends on its size, before it is done: decoding a
	// request, and parsing and validating a document that is not cached. It may reject it like
	// Arrive. Owe charges the length of an answer that has been encoded, and cannot reject it.
	// Default: no limits.
	Work func(ctx context.Context, cost int) []Quota
	Owe  func(ctx context.Context, cost int)

	// Refused is called with the code of each request or operation that is rejected before it runs.
	// Default: none.
	Refused func(ctx context.Context, code string)

	// OperationTimeout ends queries and mutations, not subscriptions. Default 30 s.
	OperationTimeout time.Duration
}

func (o Options) withDefaults() Options {
	if o.ErrorPresenter == nil || o.Recover == nil {
		panic("transport: an ErrorPresenter and Recover are required")
	}
	if o.Authenticate == nil {
		o.Authenticate = func(ctx context.Context, _ string) (context.Context, error) { return ctx, nil }
	}
	if o.Arrive == nil {
		o.Arrive = func(context.Context) []Quota { return nil }
	}
	if o.Charge == nil {
		o.Charge = func(context.Context, Charge) []Quota { return nil }
	}
	if o.Work == nil {
		o.Work = func(context.Context, int) []Quota { return nil }
	}
	if o.Owe == nil {
		o.Owe = func(context.Context, int) {}
	}
	if o.Refused == nil {
		o.Refused = func(context.Context, string) {}
	}
	o.OperationTimeout = cmp.Or(o.OperationTimeout, 30*time.Second)
	return o
}
