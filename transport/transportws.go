package transport

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/99designs/gqlgen/graphql"
	"github.com/gorilla/websocket"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

// handle acts on one message.
func (k *socket) handle(data []byte) {
	m, err := parseMessage(data, k.protocol.kinds())
	if err != nil {
		k.protocol.malformed(k, m, err)
		return
	}
	switch m.kind {
	case messageInit:
		k.initialise(m)
	case messagePing:
		k.send(nil, false, encodeMessage(messagePong, nil, m.payload))
	case messagePong: // a sign of life like any other
	case messageSubscribe:
		k.subscribe(m)
	case messageComplete:
		k.protocol.stopped(k, m.id, k.complete(m.id))
	case messageTerminate:
		k.close(websocket.CloseNormalClosure, "Terminated")
	}
}

// initialise authenticates the socket. The reader waits for it, so nothing can overtake the ack.
func (k *socket) initialise(m *message) {
	if k.initialised {
		k.close(closeTooManyInits, "Too many initialisation requests")
		return
	}
	k.initialised = true
	k.timers.init.Stop()
	authorization, err := m.authorization()
	if err != nil {
		k.close(closeBadRequest, err.Error())
		return
	}
	if authorization != "" {
		k.authorization = authorization
	}
	ctx, cancel := context.WithTimeout(k.ctx, k.server.options.InitTimeout)
	defer cancel()
	authenticated, failure := k.server.authenticate(ctx, k.authorization)
	if failure != nil {
		k.server.options.Refused(ctx, errorCode(failure))
		k.protocol.rejected(k, failure)
		k.refuseIdentity(failure)
		return
	}
	if !k.seat(authenticated) {
		k.server.options.Refused(ctx, CodeRateLimited)
		k.close(websocket.CloseTryAgainLater, "Too many sockets")
		return
	}
	k.server.joinSession(authenticated, k)
	k.acknowledged.Store(k.send(nil, false, encodeMessage(messageAck, nil, nil)))
	k.protocol.keepAlive(k)
}

func (k *socket) refuseIdentity(err *gqlerror.Error) {
	switch errorCode(err) {
	case CodeInternal, CodeTimeout, CodeUnavailable:
		k.close(websocket.CloseInternalServerErr, "Internal server error")
	default:
		k.close(closeForbidden, "Forbidden")
	}
}

// socketOperation is an operation from its subscribe message to its last message.
type socketOperation struct {
	id        json.RawMessage // as JSON
	name      string          // as text
	ctx       context.Context
	cancel    context.CancelFunc
	kept      bool // a Stream, which outlives the operation's goroutine; only that uses it
	streaming bool // a subscription; guarded by socket.mu
	stopped   bool // the client no longer listens; guarded by socket.mu
}

// stop is called with socket.mu held.
func (op *socketOperation) stop() {
	op.stopped = true
	op.cancel()
}

// subscribe starts an operation, of any type.
func (k *socket) subscribe(m *message) {
	if !k.acknowledged.Load() {
		k.close(closeUnauthorized, "Unauthorized")
		return
	}
	k.protocol.starting(k, m.id)
	id := marshalString(m.id)
	if m.badText != nil {
		k.send(nil, false, k.protocol.errors(id, gqlerror.List{badText(m.badText)}))
		return
	}
	op, refused := k.register(id, m.id)
	switch refused {
	case accepted:
		go k.run(op, m.request)
	case subscriberExists:
		k.close(closeSubscriberExists, fmt.Sprintf("Subscriber for %s already exists", truncate(m.id, 80)))
	case socketClosing:
	case tooManyOperations:
		err := newError(CodeRateLimited, "more than %d concurrent operations on this socket", k.maxOperations)
		err.Extensions["limit"] = limitOperations
		k.server.options.Refused(k.ctx, CodeRateLimited)
		k.server.options.SocketRefused(limitOperations)
		k.send(nil, false, k.protocol.errors(id, gqlerror.List{err}))
	}
}

// refusal says why an operation is not started.
type refusal int

const (
	accepted refusal = iota
	subscriberExists
	tooManyOperations
	socketClosing // which is answer enough
)

// register reserves an id and counts the operation.
func (k *socket) register(id json.RawMessage, name string) (*socketOperation, refusal) {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case k.closing || k.draining != nil:
		return nil, socketClosing
	case k.operations[name] != nil:
		return nil, subscriberExists
	case k.running >= k.maxOperations:
		return nil, tooManyOperations
	}
	op := &socketOperation{id: id, name: name}
	op.ctx, op.cancel = context.WithCancel(k.ctx)
	k.operations[name] = op
	k.running++
	k.operating.Add(1)
	return op, accepted
}

// complete is the client's: it no longer listens. An unknown id is one that ended on the way: then
// complete returns false.
func (k *socket) complete(name string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	op := k.operations[name]
	if op == nil {
		return false
	}
	op.stop()
	k.forget(op)
	return true
}

// forget releases an operation's id. It is called with k.mu held.
func (k *socket) forget(op *socketOperation) {
	if k.operations[op.name] == op { // the id may belong to another by now
		delete(k.operations, op.name)
	}
}

// run is the goroutine of an operation.
func (k *socket) run(op *socketOperation, req *request) {
	ctx := withRequestID(graphql.StartOperationTrace(op.ctx))
	defer k.leave(op)
	defer func() {
		if value := recover(); value != nil {
			k.fail(op, gqlerror.List{k.server.recovered(ctx, value)})
		}
	}()
	if limited := k.server.arrive(ctx); limited != nil {
		k.server.options.Refused(ctx, CodeRateLimited)
		k.fail(op, gqlerror.List{limited})
		return
	}
	// The token may have been revoked since the last operation.
	authenticated, failure := k.server.authenticate(ctx, k.authorization)
	if failure != nil {
		k.server.options.Refused(ctx, errorCode(failure))
		k.failIdentity(op, failure)
		return
	}
	prepared, errs := k.server.prepare(authenticated, req)
	if errs != nil {
		k.fail(op, errs)
		return
	}
	k.execute(authenticated, op, prepared)
}

// leave ends an operation's goroutine, and the operation, unless it is a Stream.
func (k *socket) leave(op *socketOperation) {
	if op.kept {
		context.AfterFunc(op.ctx, func() { k.finish(op) })
		return
	}
	k.finish(op)
}

// finish counts an operation out.
func (k *socket) finish(op *socketOperation) {
	k.mu.Lock()
	op.stop()
	k.forget(op)
	k.running--
	k.mu.Unlock()
	k.finishDraining()
	k.operating.Done()
}

// begin counts a call of a Stream in, if the client still listens; operating.Done counts it out.
func (k *socket) begin(op *socketOperation) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closing || op.stopped {
		return false
	}
	k.operating.Add(1)
	return true
}

// failIdentity: a revoked token costs the socket, a failing database only the operation.
func (k *socket) failIdentity(op *socketOperation, err *gqlerror.Error) {
	switch errorCode(err) {
	case CodeInternal, CodeTimeout, CodeUnavailable:
		k.fail(op, gqlerror.List{err})
	default:
		if op.ctx.Err() == nil { // not because the client gave up
			k.close(closeForbidden, "Forbidden")
		}
	}
}

// execute sends a response for each event of a subscription, and one for a query or mutation. A
// subscription that has become a Stream goes on without it.
func (k *socket) execute(ctx context.Context, op *socketOperation, prepared *operation) {
	streaming := prepared.kind() == ast.Subscription
	if streaming {
		k.markStreaming(op)
		ctx = context.WithValue(ctx, streamKey{}, &Stream{k, op, ctx, &operation{context: prepared.again(), cost: prepared.cost}})
	} else {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, k.server.options.OperationTimeout)
		defer cancel()
	}
	handler, ctx := k.server.dispatch(ctx, prepared)
	for {
		resp := handler(ctx)
		if resp == nil {
			break
		}
		a := newAnswer(resp, prepared.cost)
		if a.requestFailed() {
			k.fail(op, a.errors)
			return
		}
		response, err := a.encode()
		if err != nil { // an extension that does not marshal
			k.fail(op, gqlerror.List{k.server.present(ctx, err)})
			return
		}
		if !k.next(op, response) || !streaming {
			break
		}
	}
	if !op.kept {
		k.send(op, true, encodeMessage(messageComplete, op.id, nil))
	}
}

// markStreaming: a draining socket waits for queries and mutations only.
func (k *socket) markStreaming(op *socketOperation) {
	k.mu.Lock()
	defer k.mu.Unlock()
	op.streaming = true
	if k.draining != nil {
		op.stop()
	}
}

// fail ends an operation with an error message; no complete follows it.
func (k *socket) fail(op *socketOperation, errs gqlerror.List) {
	k.send(op, true, k.protocol.errors(op.id, errs))
}

// next sends a response, and tells whether the client still listens.
func (k *socket) next(op *socketOperation, response []byte) bool {
	buf := getBuffer()
	defer putBuffer(buf)
	buf.WriteString(`{"id":`)
	buf.Write(op.id)
	buf.WriteString(`,"type":"`)
	buf.WriteString(k.protocol.next())
	buf.WriteString(`","payload":`)
	buf.Write(response)
	buf.WriteByte('}')
	return k.send(op, false, buf.Bytes())
}

// encodeMessage writes a message; id and payload are JSON or nil.
func encodeMessage(kind string, id, payload json.RawMessage) []byte {
	data := make([]byte, 0, len(`{"id":,"type":"","payload":}`)+len(kind)+len(id)+len(payload))
	data = append(data, '{')
	if id != nil {
		data = append(append(append(data, `"id":`...), id...), ',')
	}
	data = append(append(append(data, `"type":"`...), kind...), '"')
	if payload != nil {
		data = append(append(data, `,"payload":`...), payload...)
	}
	return append(data, '}')
}
