package websocket

import (
	"context"
	"errors"
	"fmt"

	"github.com/gorilla/websocket"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"plaza/transport/codes"
	"plaza/transport/connections"
	"plaza/transport/request"
)

// serve reads from the socket until it ends.
func (k *socket) serve() {
	defer k.end()
	k.place.Open(k)
	defer k.place.Close()
	if k.conn.Subprotocol() == "" {
		k.close(closeNotAcceptable, "Subprotocol not acceptable")
	}
	k.read(k.handleApart)
}

// handleApart handles a message in another goroutine, and waits for it. So the reader's stack,
// which an idle socket keeps, stays small.
func (k *socket) handleApart(data []byte) {
	handled := make(chan struct{})
	go func() {
		defer close(handled)
		defer func() {
			if value := recover(); value != nil { // otherwise the panic would end the process
				_ = k.executor.Recovered(k.ctx, value)
				k.close(websocket.CloseInternalServerErr, "Internal server error")
			}
		}()
		k.handle(data)
	}()
	<-handled
}

// handle acts on one message.
func (k *socket) handle(data []byte) {
	if !k.executor.AwaitRead(k.ctx, len(data)) {
		return
	}
	m, err := parseMessage(data, k.protocol.kinds())
	if err != nil {
		k.executor.AwaitArrival(k.ctx)
		k.protocol.malformed(k, m, err)
		return
	}
	switch m.kind {
	case messageInit:
		k.initialise(m)
	case messagePing:
		k.executor.AwaitArrival(k.ctx)
		k.write(encodeMessage(messagePong, nil, m.echo()))
	case messagePong: // needs no answer; stayAlive has extended the deadline
	case messageSubscribe:
		k.subscribe(m)
	case messageComplete:
		k.protocol.stopped(k, m.id, k.complete(m.id))
	case messageTerminate:
		k.close(websocket.CloseNormalClosure, "Terminated")
	}
}

// initialise authenticates the socket. The reader waits for it, so no other message can be sent
// before the ack.
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
	ctx, cancel := context.WithTimeout(k.ctx, k.options.InitTimeout)
	defer cancel()
	authenticated, failure := k.executor.Authenticate(ctx, k.authorization)
	if failure != nil {
		k.executor.Refused(ctx, codes.Of(failure))
		k.protocol.rejected(k, failure)
		k.rejectIdentity(failure)
		return
	}
	if !k.place.SignIn(authenticated) {
		k.executor.Refused(ctx, codes.RateLimited)
		k.close(websocket.CloseTryAgainLater, "Too many sockets")
		return
	}
	k.acknowledged.Store(k.write(encodeMessage(messageAck, nil, nil)))
	k.protocol.keepAlive(k)
}

// rejectIdentity closes the socket. Clients connect again after 1013, and often never after 1011: the
// library graphql-ws takes 1011 for final.
func (k *socket) rejectIdentity(err *gqlerror.Error) {
	switch {
	case codes.IsTemporary(err):
		k.close(websocket.CloseTryAgainLater, "Try again later")
	case codes.IsServers(err):
		k.close(websocket.CloseInternalServerErr, "Internal server error")
	default:
		k.close(closeForbidden, "Forbidden")
	}
}

// subscribe starts an operation, of any type.
func (k *socket) subscribe(m *message) {
	if !k.acknowledged.Load() {
		k.close(closeUnauthorized, "Unauthorized")
		return
	}
	k.protocol.starting(k, m.id)
	if m.refusal != nil {
		k.executor.AwaitArrival(k.ctx)
		k.fail(m.id, request.Present(m.refusal))
		return
	}
	if k.isClosing() {
		return
	}
	op, err := k.operations.Start(k.ctx, m.id, k.place.Operations())
	switch {
	case err == nil:
		go k.run(op, m.request)
	case errors.Is(err, connections.ErrOperationExists):
		k.close(closeSubscriberExists, fmt.Sprintf("Subscriber for %s already exists", codes.Truncate(m.id, 80)))
	case errors.Is(err, connections.ErrTooManyOperations):
		k.executor.AwaitArrival(k.ctx)
		err := k.place.TooManyOperations()
		k.executor.Refused(k.ctx, codes.Of(err))
		k.fail(m.id, err)
	}
}

// fail rejects an operation before it is started.
func (k *socket) fail(id string, err *gqlerror.Error) {
	k.write(k.protocol.errors(request.JSONString(id), gqlerror.List{err}))
}

// run is the goroutine of an operation. A subscription may continue without it, as a stream.
func (k *socket) run(op *connections.Operation, req *request.Request) {
	if op.Await() && k.executor.Serve(op.Context, k.authorization, req, sink{k, op, request.JSONString(op.ID)}) {
		context.AfterFunc(op.Context, func() { k.operations.Finish(op) })
		return
	}
	k.operations.Finish(op)
}
