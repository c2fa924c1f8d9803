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

// Next sends a response.
func (s sink) Next(response []byte) bool {
	buf := getBuffer()
	defer putBuffer(buf)
	buf.WriteString(`{"id":`)
	buf.Write(s.id)
	buf.WriteString(`,"type":"`)
	buf.WriteString(s.protocol.next())
	buf.WriteString(`","payload":`)
	buf.Write(response)
	buf.WriteByte('}')
	return s.say(buf.Bytes(), false)
}

// Complete sends the operation's last message.
func (s sink) Complete() {
	s.say(encodeMessage(messageComplete, s.id, nil), true)
}

// Fail ends the operation with an error message; no complete follows it.
func (s sink) Fail(errs gqlerror.List) {
	s.say(s.protocol.errors(s.id, errs), true)
	s.op.Cancel()
}

// Reject closes the socket, because its token was revoked.
func (s sink) Reject(*gqlerror.Error) {
	if s.op.Context.Err() == nil { // the client is still connected
		s.close(closeForbidden, "Forbidden")
	}
}

// say sends a message of the operation, and returns whether the client still listens. Before the
// last one, it releases the operation's id.
func (s sink) say(message []byte, last bool) bool {
	if !s.operations.Hold(s.op) {
		return false
	}
	defer s.operations.Release()
	return s.send(message, func() bool { return s.operations.Wanted(s.op, last) })
}

// buffers are reused for messages; large ones are left to the collector.
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
