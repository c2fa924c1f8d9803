package transport

import (
	"context"
	"time"

	"github.com/vektah/gqlparser/v2/gqlerror"
)

type streamKey struct{}

// Stream is a running subscription, for the resolver of its field. The resolver is called once when
// the subscription begins: it takes the stream with [StreamOf], keeps it, and returns a channel
// that is closed. For each event its caller then calls Execute, which calls the resolver again,
// with the event in its context: now it returns a channel with the event. A stream needs no
// goroutine while nothing happens.
type Stream struct {
	socket   *socket
	op       *socketOperation
	ctx      context.Context // the subscription outlives the call that began it
	prepared *operation
}

// Context is the subscription's context, authenticated: it ends with the subscription. It holds
// nothing that was made for its beginning.
func (s *Stream) Context() context.Context { return s.ctx }

// StreamOf returns the stream of a subscription's context; nil in other operations.
func StreamOf(ctx context.Context) *Stream {
	s, _ := ctx.Value(streamKey{}).(*Stream)
	if s != nil {
		s.op.kept = true
	}
	return s
}

// waitForQuota is how long a stream waits at least before it asks again for what the limits have
// refused: a user may have thousands of streams that wait.
const waitForQuota = time.Second

// Await charges the cost of a response, and waits until the limits admit it, or the subscription has
// ended. A stream is delayed where a request would be refused, because it asks for nothing: what it
// sends depends on others.
func (s *Stream) Await() {
	for s.ctx.Err() == nil {
		refused := longest(s.socket.server.options.Charge(s.ctx, Charge{Cost: s.prepared.cost.Requested}))
		if refused.RetryAfter == 0 {
			return
		}
		select {
		case <-time.After(max(refused.RetryAfter, waitForQuota)):
		case <-s.ctx.Done():
		}
	}
}

// Execute runs the subscription for one event, and returns the response as JSON. ctx derives from
// Context, of this stream or of another one that selects the same.
func (s *Stream) Execute(ctx context.Context) (response []byte) {
	server := s.socket.server
	defer func() {
		if value := recover(); value != nil {
			response = failed(server.recovered(ctx, value))
		}
	}()
	handler, ctx := server.events.DispatchOperation(ctx, s.prepared.again())
	resp := handler(ctx)
	if resp == nil { // ctx has ended before the event was taken
		return failed(server.present(ctx, context.Cause(ctx)))
	}
	response, err := newAnswer(resp, s.prepared.cost).encode()
	if err != nil { // an extension that does not marshal
		return failed(server.present(ctx, err))
	}
	return response
}

// failed is a response without data.
func failed(err *gqlerror.Error) []byte {
	response, _ := (&answer{errors: gqlerror.List{err}}).encode()
	return response
}

// Send sends a response of Execute, which may be that of another stream with the same operation, if
// the client still listens. It waits for a client that is slow.
func (s *Stream) Send(response []byte) {
	if s.socket.begin(s.op) {
		defer s.socket.operating.Done()
		s.socket.next(s.op, response)
	}
}

// End ends the subscription with an error, which goes through the presenter.
func (s *Stream) End(err error) {
	if s.socket.begin(s.op) {
		defer s.socket.operating.Done()
		s.socket.fail(s.op, gqlerror.List{s.socket.server.present(s.op.ctx, err)})
		s.op.cancel()
	}
}
