package crash

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"plaza/internal/plazatest"
	"plaza/storage/mongodb/mongotest"
)

// TestLossesSurviveAKill deletes comments about which their post's author was notified, while the
// servers are killed with SIGKILL, one after another, and started again. The author's connection is
// cut again and again; with the last cursor, on whichever server is up, each notification is removed
// once, in the order of the deletions.
func TestLossesSurviveAKill(t *testing.T) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		loseWhileKilled(t, startFlock(t, 1))
	})
	t.Run("mongodb", func(t *testing.T) {
		t.Parallel()
		loseWhileKilled(t, startFlock(t, 2, "--mongodb-uri", mongotest.Reused(t)))
	})
}

func loseWhileKilled(t *testing.T, servers *flock) {
	const comments, cuts = 41, 7
	ada, bob := signUp(t, servers.urls[0], "ada"), signUp(t, servers.urls[0], "bob")
	notified := map[string]string{} // the notification about each comment
	var written []string
	for n := range comments {
		written = append(written, bob.Comment(t, ada.Status(t, fmt.Sprint("post ", n), plazatest.Public), "hello"))
	}
	var newest string
	plazatest.WaitFor(t, "ada is notified of each comment", func() bool {
		newest = notificationsOf(t, ada, notified)
		return len(notified) == comments
	})
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	r := &reader{ctx: ctx, urls: servers.urls, token: ada.Token, list: losses, cursor: newest, all: comments, cuts: cuts, chance: rand.New(rand.NewPCG(1, 1))}
	done := make(chan struct{})
	go func() { defer close(done); r.run() }()
	w := &writers{ctx: ctx, urls: servers.urls}
	deleting := make(chan struct{})
	go func() {
		defer close(deleting)
		w.each(&talker{token: bob.Token}, deletions(written))
	}()
	for n := range servers.servers {
		w.until(t, (n+1)*comments/(len(servers.servers)+2))
		// On a slow machine, most of them may be deleted by now.
		servers.kill(n, func() { w.until(t, min(int(w.wrote.Load())+comments/8, comments)) })
	}
	<-deleting
	if w.failure() != nil { // the reader would wait for the rest
		t.Fatalf("the writer: %v", w.failure())
	}
	<-done
	if r.err != nil {
		t.Fatalf("the reader, after %d items: %v", len(r.items), r.err)
	}
	var got, want []string
	for _, i := range r.items {
		got = append(got, i.id)
	}
	for _, comment := range written {
		want = append(want, notified[comment])
	}
	if !slices.Equal(got, want) {
		t.Errorf("ada lost the notifications\n%v, want\n%v", got, want)
	}
	ada.URL = servers.urls[0]
	clear(notified)
	if notificationsOf(t, ada, notified); len(notified) > 0 {
		t.Errorf("ada still has %d notifications", len(notified))
	}
	t.Logf("%d notifications were removed, over %d connections cut and %d lost by kills", len(got), cuts, r.lost)
}

var losses = list{subscription: `subscription { notificationAdded(after: %q) { event cursor id: notificationId } }`, field: "notificationAdded", event: "REMOVED"}

// notificationsOf adds a person's notifications by the comment that they are about, and returns the
// newest one's cursor.
func notificationsOf(t *testing.T, p plazatest.Person, by map[string]string) (newest string) {
	t.Helper()
	var answer struct {
		Viewer struct {
			Notifications struct {
				Edges []struct {
					Cursor string
					Node   struct {
						ID      string
						Comment struct{ ID string }
					}
				}
			}
		}
	}
	p.Do(t, `{ viewer { notifications(first: 100) { edges { cursor node { id comment { id } } } } } }`, nil, &answer)
	for i, e := range answer.Viewer.Notifications.Edges {
		by[e.Node.Comment.ID] = e.Node.ID
		if i == 0 {
			newest = e.Cursor
		}
	}
	return newest
}

// deletions returns an operation for each comment.
func deletions(comments []string) (operations []string) {
	for _, c := range comments {
		operations = append(operations, fmt.Sprintf(`mutation { write: deleteComment(input: {commentId: %q}) { done: post { id } userErrors { message } } }`, c))
	}
	return operations
}
