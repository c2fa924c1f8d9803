package websocket

import (
	"context"
	"encoding/json"
	"sync"

	"plaza/transport/request"
)

// operation is an operation from its subscribe message to its last message.
type operation struct {
	id        json.RawMessage // as JSON
	name      string          // as text
	ctx       context.Context
	cancel    context.CancelFunc
	streaming bool // a subscription; guarded by operations.mu
	stopped   bool // the client no longer listens; guarded by operations.mu
}

// stop is called with operations.mu held.
func (op *operation) stop() {
	op.stopped = true
	op.cancel()
}

// operations are the operations of one socket.
type operations struct {
	mu      sync.Mutex
	byName  map[string]*operation
	running int            // those that have not ended, stopped ones included
	ended   sync.WaitGroup // waits for these, and for messages that are being sent for them
	drained func()         // called when no query or mutation is left; nil while new ones may start
}

// refusal is why an operation is not started.
type refusal int

const (
	accepted refusal = iota
	subscriberExists
	tooManyOperations
	socketDraining // needs no answer
)

// start reserves an id and counts the operation, which ends with ctx.
func (o *operations) start(ctx context.Context, name string, maximum int) (*operation, refusal) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.drained != nil:
		return nil, socketDraining
	case o.byName[name] != nil:
		return nil, subscriberExists
	case o.running >= maximum:
		return nil, tooManyOperations
	}
	op := &operation{id: request.JSONString(name), name: name}
	op.ctx, op.cancel = context.WithCancel(ctx)
	o.byName[name] = op
	o.running++
	o.ended.Add(1)
	return op, accepted
}

// finish removes an operation.
func (o *operations) finish(op *operation) {
	o.mu.Lock()
	op.stop()
	o.forget(op)
	o.running--
	o.mu.Unlock()
	o.checkDrained()
	o.ended.Done()
}

// complete is called when the client no longer listens to an operation. It returns false for an
// unknown id: the operation may have just ended.
func (o *operations) complete(name string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	op := o.byName[name]
	if op == nil {
		return false
	}
	op.stop()
	o.forget(op)
	return true
}

// forget releases an operation's id. It is called with o.mu held.
func (o *operations) forget(op *operation) {
	if o.byName[op.name] == op { // another operation may have the id by now
		delete(o.byName, op.name)
	}
}

// wanted reports whether the client still listens. With last it releases the operation's id, so that
// the client, once it has the last message, can reuse the id.
func (o *operations) wanted(op *operation, last bool) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if op.stopped {
		return false
	}
	if last {
		o.forget(op)
	}
	return true
}

// hold adds a message to ended, if the client still listens to the operation. The caller calls
// ended.Done after it was sent.
func (o *operations) hold(op *operation) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if op.stopped {
		return false
	}
	o.ended.Add(1)
	return true
}

// markStreaming marks a subscription, because draining only waits for queries and mutations.
func (o *operations) markStreaming(op *operation) {
	o.mu.Lock()
	defer o.mu.Unlock()
	op.streaming = true
	if o.drained != nil {
		op.stop()
	}
}

// drain rejects new operations, ends subscriptions, and calls drained when the last query or
// mutation has ended, perhaps more than once. Only the first call counts; others return false.
func (o *operations) drain(drained func()) bool {
	o.mu.Lock()
	if o.drained != nil {
		o.mu.Unlock()
		return false
	}
	o.drained = drained
	for _, op := range o.byName {
		if op.streaming {
			op.stop()
		}
	}
	o.mu.Unlock()
	o.checkDrained()
	return true
}

func (o *operations) checkDrained() {
	o.mu.Lock()
	drained := o.drained
	for _, op := range o.byName {
		if !op.stopped {
			drained = nil
		}
	}
	o.mu.Unlock()
	if drained != nil {
		drained()
	}
}
