package websocket

import (
	"bytes"
	"encoding/json"
	"sync"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"plaza/transport/connections"
)

// sink implements [execution.Sink] for one operation of a socket.
type sink struct {
	*socket

	op *connections.Operation
	id json.RawMessage // the operation's, as JSON
}

// Accept records which operations are subscriptions.
func (s sink) Accept(kind ast.Operation) bool {
	if kind == ast.Subscription {
		s.operations.MarkStreaming(s.op)
	}
	return true
}

// Next sends responses.
func (s sink) Next(responses ...[]byte) bool {
	buf := getBuffer()
	defer putBuffer(buf)
	ends := make([]int, len(responses))
	for i, response := range responses {
		buf.WriteString(`{"id":`)
		buf.Write(s.id)
		buf.WriteString(`,"type":"`)
		buf.WriteString(s.protocol.next())
		buf.WriteString(`","payload":`)
		buf.Write(response)
		buf.WriteByte('}')
		ends[i] = buf.Len()
	}
	messages, begin := make([][]byte, len(ends)), 0
	for i, end := range ends { // the buffer no longer moves
		messages[i], begin = buf.Bytes()[begin:end], end
	}
	return s.say(false, messages...)
}

// Complete sends the operation's last message.
func (s sink) Complete() {
	s.say(true, encodeMessage(messageComplete, s.id, nil))
}

// Fail ends the operation with an error message; no complete follows it.
func (s sink) Fail(errs gqlerror.List) {
	s.say(true, s.protocol.errors(s.id, errs))
	s.op.Cancel()
}

// Reject closes the socket, because its token was revoked.
func (s sink) Reject(*gqlerror.Error) {
	if s.op.Context.Err() == nil { // the client is still connected
		s.close(closeForbidden, "Forbidden")
	}
}

// say sends messages of the operation, and returns whether the client still listens. Before the last
// one, it releases the operation's id.
func (s sink) say(last bool, messages ...[]byte) bool {
	if !s.operations.Hold(s.op) {
		return false
	}
	defer s.operations.Release()
	return s.send(func() bool { return s.operations.Wanted(s.op, last) }, messages...)
}

// buffers are reused for writes; large ones are left to the collector.
var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

func getBuffer() *bytes.Buffer {
	buf, _ := buffers.Get().(*bytes.Buffer) // the pool contains nothing else
	buf.Reset()
	return buf
}

func putBuffer(buf *bytes.Buffer) {
	const keep = 64 << 10
	if buf.Cap() <= keep {
		buffers.Put(buf)
	}
}
