package batch

import (
	"context"
	"sync"
)

// Shared reads values by key, each by itself. Calls for a key that is being read share its next
// read, so no answer is older than its call, and what many callers want at the same time is read
// once for all of them. Calls for other keys do not wait. Shared is safe for concurrent use.
type Shared[K comparable, V any] struct {
	read func(ctx context.Context, key K) (V, error)

	mu     sync.Mutex
	wanted map[K]*wanted[V]
}

// wanted is a key that calls are waiting for.
type wanted[V any] struct {
	reads *Reader[struct{}, V]
	calls int
}

// NewShared returns a Shared. The context of a read is that of [NewReader].
func NewShared[K comparable, V any](read func(ctx context.Context, key K) (V, error)) *Shared[K, V] {
	return &Shared[K, V]{read: read, wanted: map[K]*wanted[V]{}}
}

// Read reads the value of a key. All calls that share the read share the value, so it must not be
// changed. The error is that of the read, or of ctx.
func (s *Shared[K, V]) Read(ctx context.Context, key K) (V, error) {
	w := s.begin(key)
	defer s.end(key, w)
	value, _, err := w.reads.Read(ctx, struct{}{})
	return value, err
}

func (s *Shared[K, V]) begin(key K) *wanted[V] {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.wanted[key]
	if w == nil {
		w = &wanted[V]{reads: NewReader(1, 0, func(ctx context.Context, _ []struct{}) (map[struct{}]V, error) {
			value, err := s.read(ctx, key)
			return map[struct{}]V{{}: value}, err
		})}
		s.wanted[key] = w
	}
	w.calls++
	return w
}

// end forgets a key that no call waits for.
func (s *Shared[K, V]) end(key K, w *wanted[V]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w.calls--; w.calls == 0 {
		delete(s.wanted, key)
	}
}
