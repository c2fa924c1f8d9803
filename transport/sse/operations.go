package sse

import (
	"context"
	"sync"
)

// operation is an operation from its request to its last event.
type operation struct {
	id        string // "" on a separate stream
	readOnly  bool   // requested by GET
	ctx       context.Context
	cancel    context.CancelFunc
	outcome   chan *Failure // receives one value: nil if the operation runs
	answered  bool          // the value was sent; guarded by operations.mu
	streaming bool          // a subscription; guarded by operations.mu
	stopped   bool          // the client no longer listens; guarded by operations.mu
}

// stop is called with operations.mu held.
func (op *operation) stop() {
	op.stopped = true
	op.cancel()
}

// operations are the operations of one stream.
type operations struct {
	mu      sync.Mutex
	byID    map[string]*operation
	running int            // those that have not ended, stopped ones included
	ended   sync.WaitGroup // waits for these, and for messages that are being sent for them
	drained func()         // called when no query or mutation is left; nil while new ones may start
}

// refusal is why an operation is not started.
type refusal int

const (
	accepted refusal = iota
	idInUse
	tooManyOperations
	draining
)

// start adds an operation. Its context has the values of ctx, and ends with the stream.
func (o *operations) start(ctx, stream context.Context, id string, maximum int) (*operation, refusal) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.drained != nil || stream.Err() != nil:
		return nil, draining
	case o.byID[id] != nil:
		return nil, idInUse
	case o.running >= maximum:
		return nil, tooManyOperations
	}
	op := &operation{id: id, outcome: make(chan *Failure, 1)}
	op.ctx, op.cancel = context.WithCancel(context.WithoutCancel(ctx))
	unbind := context.AfterFunc(stream, op.cancel)
	context.AfterFunc(op.ctx, func() { unbind() })
	o.byID[id] = op
	o.running++
	o.ended.Add(1)
	return op, accepted
}

// answer sends the answer to the request of an operation, and returns false if it was already sent.
func (o *operations) answer(op *operation, failure *Failure) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if op.answered {
		return false
	}
	op.answered = true
	op.outcome <- failure
	return true
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

// complete is called when the client no longer listens to an operation. It ignores an unknown id,
// because the operation may have just ended.
func (o *operations) complete(id string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if op := o.byID[id]; op != nil {
		op.stop()
		o.forget(op)
	}
}

// forget releases an operation's id. It is called with o.mu held.
func (o *operations) forget(op *operation) {
	if o.byID[op.id] == op { // another operation may have the id by now
		delete(o.byID, op.id)
	}
}

// wanted reports whether the client still listens. With last it releases the operation's id, so that
// the client, once it has the last event, can reuse the id.
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

// drain rejects new operations, ends subscriptions, whose ids it passes to stopped first, and calls
// drained when the last query or mutation has ended, perhaps more than once. Only the first call
// counts; others return false.
func (o *operations) drain(stopped func(ids []string), drained func()) bool {
	o.mu.Lock()
	if o.drained != nil {
		o.mu.Unlock()
		return false
	}
	o.drained = drained
	var ids []string
	for id, op := range o.byID {
		if op.streaming {
			op.stop()
			ids = append(ids, id)
		}
	}
	stopped(ids)
	o.mu.Unlock()
	o.checkDrained()
	return true
}

func (o *operations) checkDrained() {
	o.mu.Lock()
	drained := o.drained
	for _, op := range o.byID {
		if !op.stopped {
			drained = nil
		}
	}
	o.mu.Unlock()
	if drained != nil {
		drained()
	}
}
