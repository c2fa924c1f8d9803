package sse

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/vektah/gqlparser/v2/gqlerror"

	"plaza/transport/codes"
	"plaza/transport/connections"
	"plaza/transport/request"
)

// stream is one streaming response, or the reservation of one, with its operations.
type stream struct {
	options       *Options
	handler       *Handler
	place         *connections.Place
	token         string // "" for a stream of one operation
	authorization string // of all its operations
	operations    connections.Operations
	opened        chan struct{}   // closed when there is a response to write to
	ctx           context.Context // ends when the stream ends
	cancel        context.CancelFunc

	mu     sync.Mutex
	taken  bool                                  // a request has opened the stream, or is opening it
	last   []byte                                // events to send at the end
	cut    bool                                  // no more events are sent
	timers struct{ open, heartbeat *time.Timer } // nil until they are needed

	writing sync.Mutex // held while an event is written
	w       http.ResponseWriter
	control *http.ResponseController
	closed  bool // nothing may be written any more; guarded by writing
}

func (h *Handler) newStream(ctx context.Context, place *connections.Place, token, authorization string) *stream {
	s := &stream{
		options: &h.options, handler: h, place: place, token: token, authorization: authorization,
		opened: make(chan struct{}),
	}
	s.ctx, s.cancel = context.WithCancel(context.WithoutCancel(ctx))
	return s
}

// single reports whether other requests start operations on the stream.
func (s *stream) single() bool { return s.token != "" }

// take returns true for the one request that may open the stream.
func (s *stream) take() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.taken {
		return false
	}
	s.taken = true
	if s.timers.open != nil {
		s.timers.open.Stop()
	}
	return true
}

// serve opens the stream as the response to a request, and returns when it has ended.
func (s *stream) serve(w http.ResponseWriter, r *http.Request) {
	defer context.AfterFunc(r.Context(), s.cancel)() // when the client disconnects
	header := w.Header()
	header.Set("Content-Type", "text/event-stream; charset=utf-8")
	header.Set("Cache-Control", "no-cache")
	header.Set("X-Accel-Buffering", "no")
	s.writing.Lock()
	s.w, s.control = w, http.NewResponseController(w)
	s.writing.Unlock()
	w.WriteHeader(http.StatusOK)
	if s.write([]byte(heartbeat)) { // some browsers wait for a first byte
		s.mu.Lock()
		s.timers.heartbeat = time.AfterFunc(s.options.HeartbeatInterval, s.beat)
		s.mu.Unlock()
		close(s.opened)
	}
	<-s.ctx.Done()
	s.finish()
}

// finish writes the last events, and prevents further writes: the response must not be used after
// its handler has returned.
func (s *stream) finish() {
	s.setDeadline() // limits how long a current write can delay the end
	s.mu.Lock()
	last, cut := s.last, s.cut
	s.mu.Unlock()
	if len(last) > 0 && !cut {
		s.write(last)
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	if !s.closed && !cut {
		_ = s.control.SetWriteDeadline(time.Time{}) // the connection may be reused
	}
	s.closed = true
}

// beat sends a heartbeat, unless an event is being written.
func (s *stream) beat() {
	if s.writing.TryLock() {
		s.put([]byte(heartbeat))
		s.writing.Unlock()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx.Err() == nil {
		s.timers.heartbeat.Reset(s.options.HeartbeatInterval)
	}
}

// send writes events, unless the stream has ended or they are no longer wanted when their turn
// comes.
func (s *stream) send(events []byte, wanted func() bool) bool {
	s.writing.Lock()
	defer s.writing.Unlock()
	return s.ctx.Err() == nil && wanted() && s.put(events)
}

func (s *stream) write(events []byte) bool {
	s.writing.Lock()
	defer s.writing.Unlock()
	return s.put(events)
}

// put is called with s.writing held. A write that fails ends the stream.
func (s *stream) put(events []byte) bool {
	if s.closed {
		return false
	}
	s.setDeadline()
	_, err := s.w.Write(events)
	if err == nil {
		err = s.control.Flush()
	}
	if err != nil {
		s.closed = true
		s.cancel()
	}
	return err == nil
}

// setDeadline gives a write the time that the state of the stream allows.
func (s *stream) setDeadline() {
	s.mu.Lock()
	defer s.mu.Unlock()
	timeout := s.options.WriteTimeout
	switch {
	case s.cut:
		timeout = 0
	case s.ctx.Err() != nil:
		timeout = s.options.CloseTimeout
	}
	_ = s.control.SetWriteDeadline(time.Now().Add(timeout)) // recorders in tests have none
}

// contextOf has the values of a request, and ends with the stream.
func (s *stream) contextOf(r *http.Request) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.Context()))
	unbind := context.AfterFunc(s.ctx, cancel)
	return ctx, func() {
		unbind()
		cancel()
	}
}

// start starts the operation of a request.
func (s *stream) start(r *http.Request, id string, req *request.Request) (*operation, *Failure) {
	if s.ctx.Err() != nil {
		return nil, unknownStream()
	}
	ctx, cancel := s.contextOf(r)
	started, err := s.operations.Start(ctx, id, s.place.Operations())
	if err != nil {
		cancel()
		return nil, s.notStarted(id, err)
	}
	context.AfterFunc(started.Context, cancel)
	op := &operation{Operation: started, readOnly: r.Method == http.MethodGet, outcome: make(chan *Failure, 1)}
	go s.run(op, req)
	return op, nil
}

// notStarted is the answer to the request of an operation that can't start.
func (s *stream) notStarted(id string, err error) *Failure {
	switch {
	case errors.Is(err, connections.ErrOperationExists):
		return refusef(http.StatusConflict, codes.BadUserInput, "an operation with the id %q is running", codes.Truncate(id, maxQuotedID))
	case errors.Is(err, connections.ErrTooManyOperations):
		return &Failure{Status: http.StatusTooManyRequests, Errs: gqlerror.List{s.place.TooManyOperations()}}
	}
	return unknownStream()
}

// run is the goroutine of an operation. A subscription may continue without it.
func (s *stream) run(op *operation, req *request.Request) {
	if op.Await() && s.handler.executor.Serve(op.Context, s.authorization, req, sink{s, op}) {
		context.AfterFunc(op.Context, func() { s.finished(op) })
		return
	}
	s.finished(op)
}

func (s *stream) finished(op *operation) {
	op.answer(refused(codes.ShuttingDown())) // only if nothing else has answered
	s.operations.Finish(op.Operation)
	if !s.single() {
		s.cancel()
	}
}

// Drain implements [connections.Connection]. Running queries and mutations get FinishTimeout.
func (s *stream) Drain(reason connections.Reason) {
	stopped := func(ids []string) {
		if reason != connections.SessionEnds {
			return // a stream that ends without complete makes clients connect again
		}
		ended := codes.Errorf(codes.Unauthenticated, "Your session has ended: sign in again.")
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, id := range ids {
			s.last = append(s.last, s.failed(id, gqlerror.List{ended})...)
		}
	}
	if s.operations.Drain(stopped, s.cancel) {
		late := time.AfterFunc(s.options.FinishTimeout, s.cancel)
		context.AfterFunc(s.ctx, func() { late.Stop() })
	}
}

// Cut implements [connections.Connection].
func (s *stream) Cut() {
	s.mu.Lock()
	s.cut = true
	s.mu.Unlock()
	s.cancel()
	select {
	case <-s.opened:
		s.setDeadline()
	default:
	}
}

// end cleans up after the stream's context has ended. When it returns, the stream's operations have
// ended.
func (s *stream) end() {
	s.handler.forget(s)
	s.mu.Lock()
	for _, timer := range []*time.Timer{s.timers.open, s.timers.heartbeat} {
		if timer != nil {
			timer.Stop()
		}
	}
	s.mu.Unlock()
	s.operations.Wait()
	s.place.Close()
	s.place.Leave()
}
