package execution

import (
	"context"
	"time"

	"github.com/vektah/gqlparser/v2/gqlerror"

	"plaza/transport/document"
)

type streamKey struct{}

// Stream is a running subscription, for the resolver of its field. The resolver is called once when
// the subscription begins: it takes the stream with [StreamOf], keeps it, and returns a channel
// that is closed. For each event its caller then calls a function of Executions, which calls the
// resolver again, with the event in its context: now it returns a channel with the event. An idle
// stream needs no goroutine.
type Stream struct {
	executor  *Executor
	operation *document.Operation
	to        Sink
	ctx       context.Context // the subscription outlives the call that began it
	taken     bool            // by the resolver; only the goroutine that begins the subscription uses it
}

// Context returns the subscription's authenticated context, which ends with the subscription. It
// contains no values of the call that began it, such as loaders.
func (s *Stream) Context() context.Context { return s.ctx }

// StreamOf returns the stream of a subscription's context; nil in other operations.
func StreamOf(ctx context.Context) *Stream {
	s, _ := ctx.Value(streamKey{}).(*Stream)
	if s != nil {
		s.taken = true
	}
	return s
}

// waitForQuota is the shortest pause before a stream asks again after the limits have refused a
// charge. It is long because a user may have thousands of waiting streams.
const waitForQuota = time.Second

// Await charges the cost of a response, and waits until the limits admit it, or the subscription
// has ended. A stream is delayed where a request would be refused, because its client does not
// control how many events there are.
func (s *Stream) Await() {
	Await(s.ctx, waitForQuota, s.charge)
}

// Admit charges the cost of a response if the limits admit it now, and returns whether they do.
func (s *Stream) Admit() bool { return longest(s.charge()).RetryAfter == 0 }

func (s *Stream) charge() []Quota {
	return s.executor.options.Charge(s.ctx, Charge{Cost: s.operation.Cost.Requested})
}

// Executions returns a function that runs the subscription for one event after another, and returns
// each response as JSON. The function works out once what the subscription selects; an idle stream
// does not keep it. ctx must derive from the Context of this stream, or of another one with the same
// selection.
func (s *Stream) Executions() func(ctx context.Context) []byte {
	op := s.operation.Again()
	return func(ctx context.Context) []byte { return s.execute(ctx, op) }
}

func (s *Stream) execute(ctx context.Context, op *document.Operation) (response []byte) {
	defer func() {
		if value := recover(); value != nil {
			response = failed(s.executor.Recovered(ctx, value))
		}
	}()
	handler, ctx := s.executor.events.DispatchOperation(ctx, op.Context)
	resp := handler(ctx)
	if resp == nil { // ctx has ended before the event was taken
		return failed(s.executor.Present(ctx, context.Cause(ctx)))
	}
	response, err := newAnswer(resp, op.Cost).encode()
	if err != nil { // an extension that does not marshal
		return failed(s.executor.Present(ctx, err))
	}
	return response
}

// Send sends responses of Executions if the client still listens. They may be those of another
// stream with the same operation. Send waits for a slow client.
func (s *Stream) Send(responses ...[]byte) {
	for _, response := range responses {
		s.executor.owe(s.ctx, s.operation, len(response))
	}
	s.to.Next(responses...)
}

// End ends the subscription with an error, which goes through the presenter.
func (s *Stream) End(err error) {
	if s.ctx.Err() == nil {
		s.to.Fail(gqlerror.List{s.executor.Present(s.ctx, err)})
	}
}
