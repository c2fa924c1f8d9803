package eventlog

import "sync"

// signal tells streams that there are new events. Only one process at a time has the file open, so
// this log's commits are all there are.
type signal struct {
	mu    sync.Mutex
	last  int64         // of the newest committed event
	grown chan struct{} // closed when last grows
	ended chan struct{} // closed when the store closes
	end   sync.Once
}

func newSignal() *signal {
	return &signal{grown: make(chan struct{}), ended: make(chan struct{})}
}

// advance wakes the streams, and never waits for them. Commits may be reported out of order.
func (s *signal) advance(seq int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if seq <= s.last {
		return
	}
	s.last = seq
	close(s.grown)
	s.grown = make(chan struct{})
}

// state returns the newest event, and a channel that is closed when there is a newer one.
func (s *signal) state() (last int64, grown <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last, s.grown
}

func (s *signal) close() { s.end.Do(func() { close(s.ended) }) }
