package execution

import (
	"context"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"plaza/transport/codes"
	"plaza/transport/document"
	"plaza/transport/request"
)

// Serve carries out an operation of any kind on a connection that may carry several: it counts,
// authenticates and checks the request, and sends a response for each event of a subscription, or
// one for a query or mutation. ctx ends when the client no longer listens. If Serve returns true, a
// [Stream] continues the subscription until ctx ends.
func (e *Executor) Serve(ctx context.Context, authorization string, req *request.Request, to Sink) (streams bool) {
	ctx = request.WithNewID(graphql.StartOperationTrace(ctx))
	stream := &Stream{executor: e, to: to}
	defer func() {
		if value := recover(); value != nil {
			to.Fail(gqlerror.List{e.Recovered(ctx, value)})
		}
		streams = stream.taken
	}()
	op, running := e.begin(ctx, authorization, req, to)
	if op == nil {
		return false
	}
	if op.Kind() == ast.Subscription {
		stream.ctx, stream.operation = running, op
		running = context.WithValue(running, streamKey{}, stream)
	} else {
		var cancel context.CancelFunc
		running, cancel = e.WithTimeout(running)
		defer cancel()
	}
	if e.respond(running, op, to) && !stream.taken {
		to.Complete()
	}
	return stream.taken
}

// begin does everything that precedes the execution of an operation, and returns the operation with
// its authenticated context. It returns nil if the operation may not run, after it has sent the
// errors to the client.
func (e *Executor) begin(ctx context.Context, authorization string, req *request.Request, to Sink) (*document.Operation, context.Context) {
	if limited := e.Arrive(ctx); limited != nil {
		e.Refused(ctx, codes.Of(limited))
		to.Fail(gqlerror.List{limited})
		return nil, nil
	}
	// The token may have been revoked since the last operation.
	authenticated, failure := e.Authenticate(ctx, authorization)
	if failure != nil {
		e.Refused(ctx, codes.Of(failure))
		if codes.IsServers(failure) {
			to.Fail(gqlerror.List{failure})
		} else {
			to.Reject(failure)
		}
		return nil, nil
	}
	op, _, errs := e.Prepare(authenticated, req)
	if errs != nil {
		to.Fail(errs)
		return nil, nil
	}
	if !to.Accept(op.Kind()) {
		return nil, nil
	}
	return op, authenticated
}

// respond sends the responses of an operation, and returns false if it has failed.
func (e *Executor) respond(ctx context.Context, op *document.Operation, to Sink) bool {
	handler, ctx := e.whole.DispatchOperation(ctx, op.Context)
	for resp := handler(ctx); resp != nil; resp = handler(ctx) {
		answer := newAnswer(resp, op.Cost)
		e.owe(ctx, op, len(answer.Data))
		if answer.RequestFailed() {
			to.Fail(answer.Errors)
			return false
		}
		response, err := answer.encode()
		if err != nil { // an extension that does not marshal
			to.Fail(gqlerror.List{e.Present(ctx, err)})
			return false
		}
		if !to.Next(response) || op.Kind() != ast.Subscription {
			break
		}
	}
	return true
}
