package ratelimit

import (
	"runtime"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// at returns a limit whose time the test sets.
func at(policy Policy) (l *Limit, clock *time.Time) {
	clock = new(time.Time)
	*clock = time.Unix(1_700_000_000, 0)
	return newLimit(policy, func() time.Time { return *clock }), clock
}

// TestBuckets compares a limit with a bucket that is refilled step by step.
func TestBuckets(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		burst := rapid.IntRange(1, 1000).Draw(t, "burst")
		per := time.Duration(rapid.IntRange(1, 1000).Draw(t, "ms")) * time.Millisecond
		l, clock := at(Policy{"test", burst, per * time.Duration(burst)})
		left, since := burst, time.Duration(0) // since the last whole unit was refilled
		for range rapid.IntRange(1, 50).Draw(t, "steps") {
			passed := time.Duration(rapid.IntRange(0, 2000).Draw(t, "passed")) * time.Millisecond
			*clock = clock.Add(passed)
			since += passed
			left, since = left+int(since/per), since%per
			if left >= burst {
				left, since = burst, 0
			}
			n := rapid.IntRange(1, 2*burst).Draw(t, "n")
			taken := min(n, burst)
			s := l.Take("key", n)
			if admitted := s.RetryAfter == 0; admitted != (left >= taken) {
				t.Fatalf("take %d of %d: admitted is %v", n, left, admitted)
			}
			if s.RetryAfter > 0 && s.RetryAfter != per*time.Duration(taken-left)-since {
				t.Fatalf("take %d of %d: retry after %v", n, left, s.RetryAfter)
			}
			if s.RetryAfter == 0 {
				left -= taken
			}
			if s.Remaining != left || s.Reset != per*time.Duration(burst-left)-since {
				t.Fatalf("%+v, want %d", s, left)
			}
		}
	})
}

func TestGive(t *testing.T) {
	t.Parallel()
	l, _ := at(Policy{"test", 3, time.Minute})
	l.Take("a", 3)
	l.Give("a", 2)
	if s := l.Take("a", 2); s.RetryAfter != 0 || s.Remaining != 0 {
		t.Errorf("what was given back cannot be taken: %+v", s)
	}
	l.Give("a", 100)
	if s := l.Take("a", 4); s.Used() != 3 {
		t.Errorf("a bucket holds more than its burst: %+v", s)
	}
}

// TestOwe: what is owed is taken from what refills, and nothing is admitted until then.
func TestOwe(t *testing.T) {
	t.Parallel()
	l, clock := at(Policy{"test", 10, 10 * time.Second})
	l.Take("a", 8)
	l.Owe("a", 22) // 20 more than there is
	s := l.Take("a", 3)
	if s.RetryAfter != 23*time.Second || s.Remaining != 0 || s.Reset != 30*time.Second {
		t.Errorf("a bucket that owes 20: %+v", s)
	}
	*clock = clock.Add(23 * time.Second)
	if s := l.Take("a", 3); s.RetryAfter != 0 || s.Remaining != 0 {
		t.Errorf("a bucket that has refilled: %+v", s)
	}
	if s := l.Take("b", 1); s.Used() != 1 {
		t.Errorf("the bucket of another key: %+v", s)
	}
	(*Limit)(nil).Owe("a", 1)
}

// TestAMillionKeys: the memory of a limit does not grow with its keys.
func TestAMillionKeys(t *testing.T) {
	l, _ := at(Policy{"test", 3, time.Minute})
	before := heap()
	for i := range 1_000_000 {
		l.Take(strconv.Itoa(i), 1)
	}
	if grown := heap() - before; grown > 200*MaxKeys {
		t.Errorf("a million keys take %d bytes", grown)
	}
	if s := l.Take("999999", 1); s.Used() != 2 {
		t.Errorf("the last key is forgotten: %+v", s)
	}
	runtime.KeepAlive(l)
}

func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
