package crash

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"plaza/id"
	"plaza/internal/testtime"
	"plaza/storage/mongodb/mongotest"
)

// TestKeysSurviveAKill makes eight users comment through a server that is killed with SIGKILL. Those
// whose request got no answer send it again, to another server.
func TestKeysSurviveAKill(t *testing.T) {
	t.Parallel()
	uri := mongotest.Reused(t)
	process, survivor := startAdProcess(t, uri, 0), startAdProcess(t, uri, 0)
	k := newKeyedTalkers(t, process.url, survivor.url)
	k.waitFor("comments", 60)
	process.kill()
	k.waitFor("comments after the kill", 16)
	k.stop()
}

// TestKeysSurviveChangesOfThePrimary makes eight users comment through two servers. Their database's
// primary is killed with SIGKILL, and the next one steps down.
func TestKeysSurviveChangesOfThePrimary(t *testing.T) {
	t.Parallel()
	set := mongotest.OwnSet(t)
	uri := mongotest.InDatabase(t, set.URI(), "plaza")
	k := newKeyedTalkers(t, startAdProcess(t, uri, 0).url, startAdProcess(t, uri, 0).url)
	k.waitFor("comments", 60)
	if err := set.Members()[0].Stop(); err != nil {
		t.Fatal(err)
	}
	k.waitFor("comments after the kill", 60)
	order(t, adminOf(t, set.URI()), bson.D{{Key: "replSetStepDown", Value: 60}, {Key: "force", Value: true}})
	k.waitFor("comments after the step-down", 60)
	k.stop()
}

// keyedTalkers are users who comment, each time with an idempotency key.
type keyedTalkers struct {
	t           *testing.T
	c           [2]talker // through one server, and the other
	wrote, lost atomic.Int64
	isDone      atomic.Bool
	all         sync.WaitGroup
}

// newKeyedTalkers makes eight users comment through two servers until stop.
func newKeyedTalkers(t *testing.T, url, other string) *keyedTalkers {
	t.Helper()
	c := *newTalker(t, url)
	k := &keyedTalkers{t: t, c: [2]talker{c, c}}
	k.c[1].url = other
	for range 8 {
		k.all.Go(k.talk)
	}
	return k
}

func (k *keyedTalkers) talk() {
	for i := 0; !k.isDone.Load() && k.t.Context().Err() == nil; i++ {
		if k.commentOnce(i) {
			k.lost.Add(1)
		}
		k.wrote.Add(1)
	}
}

// waitFor waits for more comments.
func (k *keyedTalkers) waitFor(what string, more int64) {
	k.t.Helper()
	enough := k.wrote.Load() + more
	testtime.Eventually(k.t, what, func() bool { return k.wrote.Load() >= enough })
}

// stop checks that each comment is there once.
func (k *keyedTalkers) stop() {
	k.t.Helper()
	k.isDone.Store(true)
	k.all.Wait()
	count, err := k.c[1].ask(k.t, fmt.Sprintf(`{ post(id: %q) { commentCount } }`, k.c[1].post), "post", "commentCount")
	if want := strconv.FormatInt(k.wrote.Load(), 10); err != nil || count != want {
		k.t.Errorf("%s comments, want %s: %v", count, want, err)
	}
	k.t.Logf("%d comments, of which the answers to %d were lost", k.wrote.Load(), k.lost.Load())
}

// commentOnce posts a comment with a key, and asks the servers in turns until one answers. It
// reports whether the comment was stored and its answer lost.
func (k *keyedTalkers) commentOnce(first int) (lost bool) {
	key := id.New().String()
	for i := first; k.t.Context().Err() == nil; i++ {
		c := k.c[i%2]
		c.key = key
		err := c.comment(k.t)
		if err == nil {
			return false
		}
		if strings.Contains(err.Error(), "ALREADY_DONE") {
			return true
		}
	}
	return false
}
