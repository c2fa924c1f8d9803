package passwords

import (
	"context"
	"errors"
	"testing"

	"pgregory.net/rapid"

	"plaza/fault"
)

// TestPasswordQueue: the turn with the lowest rank comes next, the oldest of those; a full queue
// drops the highest rank, the newest of those.
func TestPasswordQueue(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		const most = 4
		q := &queue{most: most, free: 1}
		if _, err := q.join(100); err != nil {
			t.Fatal(err)
		}
		var want []*turn // as they should come
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			if rapid.Bool().Draw(t, "leaves") && len(want) > 0 {
				q.leave()
				if outcome(t, want[0]) != nil {
					t.Fatal("the first is turned away")
				}
				want = want[1:]
				continue
			}
			joined, err := q.join(rapid.IntRange(0, 3).Draw(t, "rank"))
			if joined != nil {
				want = expect(want, joined)
			}
			if full := len(want) > most || err != nil; !full {
				continue
			}
			if err == nil {
				err = outcome(t, want[most])
				want = want[:most]
			}
			if f, ok := errors.AsType[*fault.Error](err); !ok || f.Code != fault.CodeRateLimited {
				t.Fatalf("a full queue answers %v", err)
			}
			if joined == nil && len(want) != most {
				t.Fatal("a queue with room turns away")
			}
		}
		for _, next := range want {
			q.leave()
			if outcome(t, next) != nil {
				t.Fatal("one that waits is turned away")
			}
		}
	})
}

// expect puts a turn behind all with its rank or a lower one.
func expect(all []*turn, joined *turn) (with []*turn) {
	at := 0
	for at < len(all) && all[at].rank <= joined.rank {
		at++
	}
	return append(append(append(with, all[:at]...), joined), all[at:]...)
}

// outcome is what a turn received; it must have received something.
func outcome(t *rapid.T, of *turn) error {
	select {
	case err := <-of.come:
		return err
	default:
		t.Fatal("a turn waits")
		return nil
	}
}

// TestLeavingThePasswordQueue: one who gives up neither keeps a place nor loses a hash.
func TestLeavingThePasswordQueue(t *testing.T) {
	t.Parallel()
	q := &queue{free: 1}
	if err := q.enter(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for range 100 {
		if err := q.enter(gone, 0); !errors.Is(err, context.Canceled) {
			t.Fatalf("got %v", err)
		}
	}
	if q.length() != 0 {
		t.Errorf("%d wait", q.length())
	}
	q.leave()
	for range 100 { // a free place and a context that has ended: either may win
		if q.enter(gone, 0) == nil {
			q.leave()
		}
	}
	if q.free != 1 {
		t.Errorf("%d are free", q.free)
	}
}
