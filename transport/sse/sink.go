package sse

import (
	"net/http"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"plaza/transport/codes"
	"plaza/transport/connections"
)

// sink implements [execution.Sink] for one operation of a stream.
type sink struct {
	*stream

	op *operation
}

// Accept rejects mutations by GET, and otherwise answers the request.
func (s sink) Accept(kind ast.Operation) bool {
	switch {
	case kind == ast.Mutation && s.op.readOnly:
		s.op.answer(refusef(http.StatusMethodNotAllowed, codes.MethodNotAllowed, "mutations need POST"))
		return false
	case kind == ast.Subscription:
		s.operations.MarkStreaming(s.op.Operation)
	}
	s.op.answer(nil)
	return true
}

// Next sends responses.
func (s sink) Next(responses ...[]byte) bool {
	var events []byte
	for _, response := range responses {
		events = append(events, s.next(s.op.ID, response)...)
	}
	return s.say(events, false)
}

// Complete sends the operation's last event.
func (s sink) Complete() { s.say(s.complete(s.op.ID), true) }

// Fail answers the request if the operation has not begun. Otherwise it sends the errors.
func (s sink) Fail(errs gqlerror.List) {
	if !s.op.answer(failed(errs)) {
		s.say(s.failed(s.op.ID, errs), true)
	}
	s.op.Cancel()
}

// Reject ends the stream, because its session has ended.
func (s sink) Reject(err *gqlerror.Error) {
	gone := s.op.Context.Err() != nil // the client has disconnected
	s.op.answer(&Failure{Status: identityStatus(err), Errs: gqlerror.List{err}, Counted: true})
	if !gone && s.single() {
		go s.Drain(connections.SessionEnds)
	}
}

// say sends events of the operation, and returns whether the client still listens. If the stream is
// reserved, it waits until the stream is opened, because events are not buffered.
func (s sink) say(events []byte, last bool) bool {
	if !s.operations.Hold(s.op.Operation) {
		return false
	}
	defer s.operations.Release()
	select {
	case <-s.opened:
	case <-s.op.Context.Done():
		return false
	}
	return s.send(events, func() bool { return s.operations.Wanted(s.op.Operation, last) })
}
