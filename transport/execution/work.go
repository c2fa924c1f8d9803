package execution

import (
	"context"
	"time"

	"github.com/vektah/gqlparser/v2/gqlerror"

	"plaza/transport/document"
)

// How much of the work around an operation is charged like one unit of a [document.Cost], by the
// CPU time that each takes.
const (
	requestBytes  = 256  // of a request, which is decoded
	documentBytes = 16   // of a document that is not cached, which is parsed and validated
	answerBytes   = 1024 // of an answer, beyond what its operation has paid for
)

// maxDocumentCharge bounds the charge for a document. Longer ones have long texts or names, which
// take little time: the number of their tokens is limited.
const maxDocumentCharge = 1024

// Read charges for a request of n bytes, and returns an error if it may not be decoded.
func (e *Executor) Read(ctx context.Context, n int) *gqlerror.Error {
	return e.work(ctx, n/requestBytes)
}

// validate charges for a document of n bytes, and returns an error if it may not be validated.
func (e *Executor) validate(ctx context.Context, n int) *gqlerror.Error {
	return e.work(ctx, min(n/documentBytes, maxDocumentCharge))
}

func (e *Executor) work(ctx context.Context, cost int) *gqlerror.Error {
	if cost == 0 {
		return nil
	}
	return exhausted(e.options.Work(ctx, cost))
}

// owe charges for an answer of n bytes what the cost of its operation does not cover. The cost does
// not depend on how long texts are.
func (e *Executor) owe(ctx context.Context, op *document.Operation, n int) {
	if extra := n/answerBytes - op.Cost.Requested; extra > 0 {
		e.options.Owe(ctx, extra)
	}
}

// waitForMessage is the shortest pause before a connection asks again after the limits have refused
// a message. An address may have a thousand connections.
const waitForMessage = 100 * time.Millisecond

// AwaitRead is Read for a message on a connection: it waits until the limits admit the message, and
// returns false if ctx ends before that. A message may have no id with which it could be refused.
func (e *Executor) AwaitRead(ctx context.Context, n int) bool {
	return n < requestBytes || Await(ctx, waitForMessage, func() []Quota { return e.options.Work(ctx, n/requestBytes) })
}

// AwaitArrival counts a message that starts no operation like the arrival of one. It waits like
// AwaitRead.
func (e *Executor) AwaitArrival(ctx context.Context) bool {
	return Await(ctx, waitForMessage, func() []Quota { return e.options.Arrive(ctx) })
}

// Await repeats a charge until no limit refuses it, with pauses of at least the shortest. It returns
// false if ctx ends before that.
func Await(ctx context.Context, shortest time.Duration, charge func() []Quota) bool {
	for ctx.Err() == nil {
		retryAfter := longest(charge()).RetryAfter
		if retryAfter == 0 {
			return true
		}
		select {
		case <-time.After(max(retryAfter, shortest)):
		case <-ctx.Done():
		}
	}
	return false
}
