package execution

import (
	"context"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"plaza/transport/codes"
	"plaza/transport/document"
	"plaza/transport/request"
)

// Executor carries out the operations of one schema.
type Executor struct {
	options   Options
	documents *document.Checker
	whole     *executor.Executor // for operations
	events    *executor.Executor // for events of streams: without AroundOperations
}

// New creates an executor. It starts nothing, and panics if a required option is missing.
func New(es graphql.ExecutableSchema, documents document.Options, options Options) *Executor {
	options = options.withDefaults()
	e := &Executor{
		options: options,
		whole:   dispatcher(es, options, options.AroundOperations),
		events:  dispatcher(es, options, nil),
	}
	e.documents = document.NewChecker(es.Schema(), documents, e.validate)
	return e
}

// dispatcher configures gqlgen's executor only to run operations, because package document checks
// documents.
func dispatcher(es graphql.ExecutableSchema, options Options, aroundOperations []graphql.OperationMiddleware) *executor.Executor {
	exec := executor.New(es)
	exec.SetErrorPresenter(options.ErrorPresenter)
	exec.SetRecoverFunc(options.Recover)
	for _, around := range aroundOperations {
		exec.AroundOperations(around)
	}
	for _, around := range options.AroundResponses {
		exec.AroundResponses(around)
	}
	return exec
}

// Arrive counts a request before it is read, and returns an error if it is rejected.
func (e *Executor) Arrive(ctx context.Context) *gqlerror.Error {
	return exhausted(e.options.Arrive(ctx))
}

// Authenticate returns the context for an Authorization. On failure it returns the error to send:
// UNAUTHENTICATED, unless the presenter returns INTERNAL, because the server itself failed, or
// another code.
func (e *Executor) Authenticate(ctx context.Context, authorization string) (context.Context, *gqlerror.Error) {
	authenticated, err := e.options.Authenticate(ctx, authorization)
	if err == nil {
		return authenticated, nil
	}
	presented := e.Present(ctx, err)
	if codes.Of(presented) == "" {
		return ctx, codes.Errorf(codes.Unauthenticated, "the bearer token is unknown, expired or revoked")
	}
	return ctx, presented
}

// Check returns the operation of a request, or the errors to send: see [document.Checker.Check].
func (e *Executor) Check(ctx context.Context, req *request.Request) (*document.Operation, gqlerror.List) {
	op, errs := e.documents.Check(ctx, req)
	if op != nil {
		op.Context.RecoverFunc = e.options.Recover
		op.Context.ResolverMiddleware = callField
		op.Context.RootResolverMiddleware = callRoot
	}
	return op, errs
}

func callRoot(ctx context.Context, next graphql.RootResolver) graphql.Marshaler { return next(ctx) }

func callField(ctx context.Context, next graphql.Resolver) (any, error) { return next(ctx) }

// Prepare checks a request and charges the client for its operation. If it fails, the operation is
// nil unless the reason was the cost or a rate limit.
func (e *Executor) Prepare(ctx context.Context, req *request.Request) (op *document.Operation, quotas []Quota, errs gqlerror.List) {
	op, errs = e.Check(ctx, req)
	if len(errs) == 0 {
		quotas = e.options.Charge(ctx, chargeOf(op))
		if limited := exhausted(quotas); limited != nil {
			errs = gqlerror.List{limited}
		}
	}
	if len(errs) > 0 {
		e.Refused(ctx, codes.Of(errs[0]))
	}
	return op, quotas, errs
}

// WithTimeout limits the time of a query or mutation, and of all that precedes it.
func (e *Executor) WithTimeout(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, e.options.OperationTimeout)
}

// Answer runs a query or mutation.
func (e *Executor) Answer(ctx context.Context, op *document.Operation) *Answer {
	handler, ctx := e.whole.DispatchOperation(ctx, op.Context)
	answer := newAnswer(handler(ctx), op.Cost)
	e.owe(ctx, op, len(answer.Data))
	return answer
}

// Refused reports the code with which a request or operation is rejected before it runs.
func (e *Executor) Refused(ctx context.Context, code string) { e.options.Refused(ctx, code) }

// Recovered presents a panic outside of resolvers. (gqlgen catches those in resolvers.)
func (e *Executor) Recovered(ctx context.Context, value any) *gqlerror.Error {
	return e.Present(ctx, e.options.Recover(ctx, value))
}

// Present runs the presenter for an error that must be sent. If the presenter drops it, it becomes
// INTERNAL.
func (e *Executor) Present(ctx context.Context, err error) *gqlerror.Error {
	if presented := e.options.ErrorPresenter(ctx, err); presented != nil {
		return presented
	}
	return codes.Errorf(codes.Internal, "internal server error")
}
