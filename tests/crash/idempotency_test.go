package crash

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"plaza/id"
	"plaza/internal/plazatest"
	"plaza/internal/testtime"
)

// TestKeysSurviveAKill makes eight users comment through a server that is killed with SIGKILL, each
// comment with an idempotency key. They send requests without an answer again, to another server:
// each comment is there once.
func TestKeysSurviveAKill(t *testing.T) {
	t.Parallel()
	const writers, enough, more = 8, 60, 2
	uri := plazatest.MongoURI(t)
	process, survivor := startAdProcess(t, uri, 0), startAdProcess(t, uri, 0)
	first := newTalker(t, process.url)
	second := *first
	second.url = survivor.url
	var wrote, lost atomic.Int64
	var isKilled atomic.Bool
	var all sync.WaitGroup
	for range writers {
		all.Go(func() {
			for left := more; left > 0; wrote.Add(1) {
				if isKilled.Load() {
					left--
				}
				if first.commentOnce(t, &second) {
					lost.Add(1)
				}
			}
		})
	}
	testtime.Eventually(t, "comments", func() bool { return wrote.Load() >= enough })
	process.kill()
	isKilled.Store(true)
	all.Wait()
	count, err := second.ask(t, fmt.Sprintf(`{ post(id: %q) { commentCount } }`, first.post), "post", "commentCount")
	if want := strconv.FormatInt(wrote.Load(), 10); err != nil || count != want {
		t.Errorf("%s comments, want %s: %v", count, want, err)
	}
	t.Logf("%d comments, of which the answers to %d were lost", wrote.Load(), lost.Load())
}

// commentOnce posts a comment with a key, and uses another server if this one does not answer. It
// reports whether the comment was stored and its answer lost.
func (c *talker) commentOnce(t *testing.T, other *talker) (lost bool) {
	t.Helper()
	to := *c
	to.key = id.New().String()
	for {
		err := to.comment(t)
		if err == nil {
			return false
		}
		if strings.Contains(err.Error(), "ALREADY_DONE") {
			return true
		}
		to.url = other.url
	}
}
