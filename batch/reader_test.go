package batch_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"plaza/batch"
)

// source answers reads when the test allows it.
type source struct {
	mu      sync.Mutex
	reads   [][]int
	proceed chan error
}

func newSource() *source { return &source{proceed: make(chan error)} }

func (s *source) read(ctx context.Context, keys []int) (map[int]string, error) {
	s.mu.Lock()
	s.reads = append(s.reads, slices.Sorted(slices.Values(keys)))
	n := len(s.reads)
	s.mu.Unlock()
	select {
	case err := <-s.proceed:
		if err != nil {
			return nil, err
		}
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	found := map[int]string{}
	for _, key := range keys {
		if key >= 0 {
			found[key] = fmt.Sprintf("%d in read %d", key, n)
		}
	}
	return found, nil
}

// begun returns the keys of the reads that have begun.
func (s *source) begun() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return fmt.Sprint(s.reads)
}

// ask reads each of the keys at the same time. The returned function waits, and returns the answers
// in the order of the keys.
func ask(t *testing.T, r *batch.Reader[int, string], keys ...int) (answers func() []string) {
	t.Helper()
	all := make([]string, len(keys))
	var calls sync.WaitGroup
	for i, key := range keys {
		calls.Go(func() {
			value, ok, err := r.Read(t.Context(), key)
			all[i] = fmt.Sprintf("%q %t %v", value, ok, err)
		})
	}
	synctest.Wait()
	return func() []string {
		calls.Wait()
		return all
	}
}

func same[T comparable](t *testing.T, got, want []T) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestCallsShareTheNextRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSource()
		r := batch.NewReader(1, 0, s.read)
		first := ask(t, r, 1)
		others := ask(t, r, 2, 3, 2, -1)
		same(t, []string{s.begun()}, []string{"[[1]]"})
		s.proceed <- nil
		same(t, first(), []string{`"1 in read 1" true <nil>`})
		synctest.Wait()
		same(t, []string{s.begun()}, []string{"[[1] [-1 2 2 3]]"})
		s.proceed <- nil
		same(t, others(), []string{`"2 in read 2" true <nil>`, `"3 in read 2" true <nil>`, `"2 in read 2" true <nil>`, `"" false <nil>`})
		last := ask(t, r, 1)
		s.proceed <- nil
		same(t, last(), []string{`"1 in read 3" true <nil>`})
	})
}

func TestFullReadStartsWhileAnotherRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSource()
		r := batch.NewReader(1, 2, s.read)
		calls := []func() []string{ask(t, r, 1), ask(t, r, 2), ask(t, r, 3), ask(t, r, 4)}
		same(t, []string{s.begun()}, []string{"[[1] [2 3]]"})
		for range 3 {
			s.proceed <- nil
		}
		for _, answers := range calls {
			answers()
		}
		same(t, []string{s.begun()}, []string{"[[1] [2 3] [4]]"})
	})
}

func TestCallsWaitOnlyWhileEnoughReadsRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSource()
		r := batch.NewReader(2, 0, s.read)
		calls := []func() []string{ask(t, r, 1), ask(t, r, 2), ask(t, r, 3), ask(t, r, 4)}
		same(t, []string{s.begun()}, []string{"[[1] [2]]"})
		s.proceed <- nil
		synctest.Wait()
		same(t, []string{s.begun()}, []string{"[[1] [2] [3 4]]"})
		s.proceed <- nil
		s.proceed <- nil
		for _, answers := range calls {
			answers()
		}
		last := ask(t, r, 5, 6)
		s.proceed <- nil
		s.proceed <- nil
		last()
		same(t, []int{len(s.reads)}, []int{5})
	})
}

func TestFailureIsOfItsReadAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSource()
		r := batch.NewReader(1, 0, s.read)
		first := ask(t, r, 1)
		next := ask(t, r, 1)
		s.proceed <- errors.New("no database")
		same(t, first(), []string{`"" false no database`})
		s.proceed <- nil
		same(t, next(), []string{`"1 in read 2" true <nil>`})
	})
}

func TestReadOutlivesItsCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSource()
		r := batch.NewReader(1, 0, s.read)
		ctx, cancel := context.WithCancel(t.Context())
		left := make(chan error, 1)
		running := ask(t, r, 0)
		go func() {
			_, _, err := r.Read(ctx, 1)
			left <- err
		}()
		synctest.Wait()
		next := ask(t, r, 2) // shares the read of 1
		cancel()
		if err := <-left; !errors.Is(err, context.Canceled) {
			t.Errorf("the caller that left got %v", err)
		}
		s.proceed <- nil
		running()
		s.proceed <- nil
		same(t, next(), []string{`"2 in read 2" true <nil>`})
		if _, _, err := r.Read(ctx, 3); !errors.Is(err, context.Canceled) {
			t.Errorf("a call that had ended got %v", err)
		}
		same(t, []string{s.begun()}, []string{"[[0] [1 2]]"})
	})
}

func TestReadThatDoesNotReturnIsAnError(t *testing.T) {
	for name, end := range map[string]func(){"panic": func() { panic("a malformed document") }, "Goexit": runtime.Goexit} {
		t.Run(name, func(t *testing.T) {
			isFirst := true
			r := batch.NewReader(1, 0, func(context.Context, []int) (map[int]string, error) {
				if isFirst {
					isFirst = false
					end()
				}
				return map[int]string{1: "one"}, nil
			})
			if _, ok, err := r.Read(t.Context(), 1); ok || err == nil {
				t.Errorf("got %t, %v, want an error", ok, err)
			}
			if value, ok, err := r.Read(t.Context(), 1); value != "one" || !ok || err != nil {
				t.Errorf("then: got %q, %t, %v", value, ok, err)
			}
		})
	}
}
