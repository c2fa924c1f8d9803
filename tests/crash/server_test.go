package crash

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"plaza/id"
	"plaza/internal/plazatest"
	"plaza/internal/testtime"
	"plaza/social"
	"plaza/storage/mongodb"
	"plaza/storage/mongodb/mongotest"
)

// talker posts comments through a server process.
type talker struct {
	url, token, post string
	key              string // of requests; "" means none
}

// ask sends an operation, and returns the string or number at a path of the answer.
func (c *talker) ask(t *testing.T, operation string, path ...string) (string, error) {
	t.Helper()
	return c.tell(t.Context(), operation, path...)
}

// tell is ask, also after a test has ended.
func (c *talker) tell(ctx context.Context, operation string, path ...string) (string, error) {
	body, err := json.Marshal(map[string]string{"query": operation})
	if err != nil {
		return "", err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	request.Header.Set("Content-Type", "application/json")
	if c.token != "" {
		request.Header.Set("Authorization", "Bearer "+c.token)
	}
	if c.key != "" {
		request.Header.Set("Idempotency-Key", c.key)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer func() { _ = response.Body.Close() }()
	var answer any
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return "", err
	}
	at := answer
	for _, name := range append([]string{"data"}, path...) {
		fields, _ := at.(map[string]any)
		at = fields[name]
	}
	switch at.(type) {
	case string, float64:
		return fmt.Sprint(at), nil
	}
	return "", fmt.Errorf("no %s in %v", strings.Join(path, "."), answer)
}

// newTalker signs a user up, and creates a post.
func newTalker(t *testing.T, url string) *talker {
	t.Helper()
	c := &talker{url: url}
	must := func(text string, err error) string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	c.token = must(c.ask(t, `mutation { signUp(input: {handle: "ada", name: "Ada", password: "correct horse"}) { token userErrors { message } } }`, "signUp", "token"))
	c.post = must(c.ask(t, `mutation { createPost(input: {content: {status: {text: "hello"}}, audience: {kind: PUBLIC}}) { post { id } userErrors { message } } }`,
		"createPost", "post", "id"))
	return c
}

func (c *talker) comment(t *testing.T) error {
	t.Helper()
	_, err := c.ask(t, fmt.Sprintf(`mutation { addComment(input: {postId: %q, text: "yes"}) { comment { id } userErrors { message } } }`, c.post),
		"addComment", "comment", "id")
	return err
}

// TestKilledServerDoesNotBlockOthers makes eight users comment on a thread through one server,
// which is killed with SIGKILL. MongoDB would keep its transactions open for an hour; the other
// server continues with the thread, and with a migration, within seconds.
func TestKilledServerDoesNotBlockOthers(t *testing.T) {
	t.Parallel()
	const writers, enough = 8, 60
	uri := mongotest.InDatabase(t, mongotest.OwnSet(t, mongotest.WithParameter("transactionLifetimeLimitSeconds=3600")).URI(), "plaza")
	process := startAdProcess(t, uri, 0)
	survivor := plazatest.OpenMongoDB(t, uri, mongodb.Options{Lease: testtime.Scale(8 * time.Second)}).(*mongodb.Store)
	c := newTalker(t, process.url)
	var wrote atomic.Int64
	var isKilled atomic.Bool
	var all sync.WaitGroup
	for range writers {
		all.Go(func() {
			for !isKilled.Load() {
				if c.comment(t) == nil { // a slow database may refuse some
					wrote.Add(1)
				}
			}
		})
	}
	testtime.Eventually(t, "comments", func() bool { return wrote.Load() >= enough })
	process.kill()
	isKilled.Store(true)
	killed := time.Now()
	all.Wait()
	post, err := id.Parse("post", c.post)
	if err != nil {
		t.Fatal(err)
	}
	comment := func() error {
		return survivor.InsertComment(t.Context(), plazatest.NewComment(social.PostID{ID: post}, social.UserID{ID: id.New()}), plazatest.CommentAdded())
	}
	testtime.Eventually(t, "a comment through the other server", func() bool {
		err := comment()
		if err != nil && !errors.Is(err, social.ErrUnavailable) {
			t.Fatal(err)
		}
		return err == nil
	})
	t.Logf("%d comments, and the next one through the other server %v after the kill", wrote.Load(), time.Since(killed).Round(time.Millisecond))
	migration := mongodb.Migration{Subject: mongodb.MigrateComments, To: mongodb.CommentsPages, Goal: mongodb.GoalFinish}
	if err := survivor.Migrate(t.Context(), migration); err != nil {
		t.Error(err)
	}
	t.Logf("a migration is done %v after the kill", time.Since(killed).Round(time.Millisecond))
	if err := comment(); err != nil {
		t.Error(err)
	}
}
