package connections

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// Operation is one on a connection, from its request to its last message.
type Operation struct {
	ID        string          // unique among those that the client listens to
	Context   context.Context // of what the operation does
	cancel    context.CancelFunc
	turn      chan struct{} // closed when it may run; nil if it may at once
	seated    bool          // counted in Operations.seated; guarded by Operations.mu
	streaming bool          // a subscription; guarded by Operations.mu
	stopped   bool          // the client no longer listens; guarded by Operations.mu
}

// Await waits until the operation may run. It returns false if the operation was stopped while it
// waited.
func (op *Operation) Await() bool {
	if op.turn == nil {
		return true
	}
	select {
	case <-op.turn:
	case <-op.Context.Done():
	}
	return op.Context.Err() == nil
}

// Cancel ends what the operation does.
func (op *Operation) Cancel() { op.cancel() }

// stop is called with Operations.mu held.
func (op *Operation) stop() {
	op.stopped = true
	op.cancel()
}

// Operations are those of one connection. The zero value has none.
type Operations struct {
	mu      sync.Mutex
	byID    map[string]*Operation // those that the client listens to
	seated  int                   // those that may run and have not ended, stopped ones included
	queue   []*Operation          // those that wait for one of these to end
	pending sync.WaitGroup        // all that have not ended, and what is being sent for them
	drained func()                // is called once no query or mutation is left; nil as long as new ones may come
	ended   bool                  // the connection has ended
}

// Why an operation is not started.
var (
	ErrOperationExists   = errors.New("an operation with this id is running")
	ErrTooManyOperations = errors.New("too many operations are running")
	ErrDraining          = errors.New("the connection takes no more operations")
)

// Start reserves an id and counts the operation, whose context is derived from ctx, which must end
// with the connection. [Operations.Finish] counts it out.
//
// The client listens to at most maximum operations, and at most as many run. Those that it has
// stopped run until they notice. It does not know that, so a new one that finds too many of them
// is not refused: [Operation.Await] makes it wait. If it did not, a client could have any number of
// queries run, by stopping each at once.
func (o *Operations) Start(ctx context.Context, id string, maximum int) (*Operation, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.drained != nil || o.ended:
		return nil, ErrDraining
	case o.byID[id] != nil:
		return nil, ErrOperationExists
	case len(o.byID) >= maximum:
		return nil, ErrTooManyOperations
	}
	op := &Operation{ID: id}
	op.Context, op.cancel = context.WithCancel(ctx)
	if o.byID == nil {
		o.byID = map[string]*Operation{}
	}
	o.byID[id] = op
	o.seat(op, maximum)
	o.pending.Add(1)
	return op, nil
}

// seat lets an operation run, or queues it. It is called with o.mu held.
func (o *Operations) seat(op *Operation, maximum int) {
	if o.seated < maximum {
		op.seated = true
		o.seated++
		return
	}
	op.turn = make(chan struct{})
	o.queue = append(o.queue, op)
}

// Finish counts an operation out.
func (o *Operations) Finish(op *Operation) {
	o.mu.Lock()
	op.stop()
	o.forget(op)
	o.unseat(op)
	o.mu.Unlock()
	o.checkDrained()
	o.pending.Done()
}

// unseat lets the next operation of the queue run in place of one that has ended. It is called with
// o.mu held.
func (o *Operations) unseat(op *Operation) {
	switch {
	case !op.seated:
		o.queue = slices.DeleteFunc(o.queue, func(queued *Operation) bool { return queued == op })
	case len(o.queue) == 0:
		o.seated--
	default:
		next := o.queue[0]
		o.queue = o.queue[1:]
		next.seated = true
		close(next.turn)
	}
}

// Stop is for a client that no longer listens. It returns false for an unknown id, which is one that
// ended on the way.
func (o *Operations) Stop(id string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	op := o.byID[id]
	if op == nil {
		return false
	}
	op.stop()
	o.forget(op)
	return true
}

// forget releases an operation's id. It is called with o.mu held.
func (o *Operations) forget(op *Operation) {
	if o.byID[op.ID] == op { // the id may belong to another by now
		delete(o.byID, op.ID)
	}
}

// Wanted says whether the client still listens. With last it releases the operation's id, so that
// the client, once it has the last message, can reuse the id.
func (o *Operations) Wanted(op *Operation, last bool) bool {
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

// Hold counts in what is about to be sent for an operation, if the client still listens;
// [Operations.Release] counts it out.
func (o *Operations) Hold(op *Operation) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if op.stopped {
		return false
	}
	o.pending.Add(1)
	return true
}

// Release is the end of a [Operations.Hold] that returned true.
func (o *Operations) Release() { o.pending.Done() }

// MarkStreaming says that an operation is a subscription: draining ends it.
func (o *Operations) MarkStreaming(op *Operation) {
	o.mu.Lock()
	defer o.mu.Unlock()
	op.streaming = true
	if o.drained != nil {
		op.stop()
	}
}

// Drain rejects new operations, ends subscriptions, whose ids it passes to stopped first, and calls
// drained when the last query or mutation has ended, perhaps more than once. Only the first call
// counts; others return false.
func (o *Operations) Drain(stopped func(ids []string), drained func()) bool {
	if !o.stopStreams(stopped, drained) {
		return false
	}
	o.checkDrained()
	return true
}

func (o *Operations) stopStreams(stopped func(ids []string), drained func()) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.drained != nil {
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
	return true
}

func (o *Operations) checkDrained() {
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

// Wait returns when all operations have ended. The connection has ended before: no more may start.
func (o *Operations) Wait() {
	o.mu.Lock()
	o.ended = true
	o.mu.Unlock()
	o.pending.Wait()
}
