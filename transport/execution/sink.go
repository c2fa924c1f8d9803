package execution

import (
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

// Sink sends the messages of one operation to its client. Its methods may be called from several
// goroutines. They do nothing once the operation has ended, or the client no longer listens.
type Sink interface {
	// Accept is called before the operation runs, unless it is rejected. It returns whether the
	// operation may run on this transport; if not, the sink has ended it.
	Accept(kind ast.Operation) bool
	// Next sends responses as JSON, in their order, and returns whether the client still listens. It
	// waits for a slow client.
	Next(responses ...[]byte) bool
	// Complete ends the operation: all responses were sent.
	Complete()
	// Fail ends the operation, whether it has begun or not, and its context.
	Fail(errs gqlerror.List)
	// Reject ends the operation, which has not begun: its Authorization is no longer valid.
	Reject(err *gqlerror.Error)
}
