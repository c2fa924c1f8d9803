package cluster

import (
	"testing"
	"time"
)

// TestSilenceIsMeasuredByOwnHeartbeats: a server whose heartbeats arrive is not silent, and one
// whose heartbeats are missing counts as silent only while this server's own heartbeats arrive.
func TestSilenceIsMeasuredByOwnHeartbeats(t *testing.T) {
	t.Parallel()
	const beat = time.Second
	start := time.Unix(1_000_000, 0)
	var w watches
	at := func(beats int) time.Time { return start.Add(time.Duration(beats) * beat) }
	look := func(own, other int) int {
		w.look([]Server{{ID: "own", At: at(own)}, {ID: "other", At: at(other)}}, "own", 2*beat)
		return int(w.others["other"].quiet / beat)
	}
	for _, step := range []struct{ own, other, want int }{
		{0, 0, 0},
		{1, 1, 0},
		{2, 1, 1}, // the other one is silent …
		{3, 1, 2},
		{4, 4, 0},  // … and sends a heartbeat
		{4, 4, 0},  // the database stalls for both
		{40, 4, 2}, // this server sends the first heartbeat
		{41, 41, 0},
		{42, 41, 1},
		{42, 41, 1}, // this server is silent too
		{90, 41, 3},
	} {
		if got := look(step.own, step.other); got != step.want {
			t.Errorf("at %d, last heartbeat at %d: silent for %d beats, want %d", step.own, step.other, got, step.want)
		}
	}
	w.look([]Server{{ID: "own", At: at(100)}}, "own", 2*beat)
	if len(w.others) != 1 {
		t.Errorf("%d servers are watched, want 1", len(w.others))
	}
}
