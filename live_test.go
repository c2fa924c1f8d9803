package main

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"plaza/internal/testtime"
	"plaza/live"
	"plaza/social"
	"plaza/storage"
	"plaza/storage/mongodb"
)

// socket speaks graphql-transport-ws to a Plaza.
type socket struct {
	t    testing.TB
	conn *websocket.Conn
}

type message struct {
	ID      string          `json:"id,omitempty"`
	Type    string          `json:"type"`
	Payload json.RawMessage `json:"payload,omitempty"`
}

// connect opens a socket for somebody, and waits for connection_ack.
func (p person) connect(t testing.TB) *socket {
	t.Helper()
	dialer := websocket.Dialer{Subprotocols: []string{"graphql-transport-ws"}}
	conn, response, err := dialer.DialContext(t.Context(), "ws"+strings.TrimPrefix(p.url, "http")+"/graphql", http.Header{})
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	t.Cleanup(func() { _ = conn.Close() })
	s := &socket{t, conn}
	payload := map[string]string{}
	if p.token != "" {
		payload["Authorization"] = "Bearer " + p.token
	}
	s.send("", "connection_init", payload)
	if m := s.next(); m.Type != "connection_ack" {
		t.Fatalf("want connection_ack, got %+v", m)
	}
	return s
}

func (s *socket) send(id, kind string, payload any) {
	s.t.Helper()
	raw, err := json.Marshal(payload)
	if err != nil {
		s.t.Fatal(err)
	}
	if err := s.conn.WriteJSON(message{ID: id, Type: kind, Payload: raw}); err != nil {
		s.t.Fatal(err)
	}
}

// next waits for the next message that is no keep-alive.
func (s *socket) next() message {
	s.t.Helper()
	var m message
	_ = s.conn.SetReadDeadline(time.Now().Add(testtime.Patience()))
	if err := s.conn.ReadJSON(&m); err != nil {
		s.t.Fatalf("no message: %v", err)
	}
	return m
}

// subscribe starts a subscription on a Plaza, and waits until it is there.
func (s *socket) subscribe(on *plaza, id, operation string) {
	s.t.Helper()
	want := on.server.hub.Subscriptions() + 1
	s.send(id, "subscribe", map[string]string{"query": operation})
	testtime.Eventually(s.t, "the subscription starts", func() bool { return on.server.hub.Subscriptions() >= want })
}

// textOf reads the text of the post or comment of a "next" message.
func (s *socket) textOf(m message) string {
	s.t.Helper()
	var payload struct {
		Data struct {
			NewsItemAdded struct{ Post struct{ Text string } }
			CommentAdded  struct{ Comment struct{ Text string } }
		}
	}
	if m.Type != "next" || json.Unmarshal(m.Payload, &payload) != nil {
		s.t.Fatalf("want next, got %+v %s", m, m.Payload)
	}
	return payload.Data.NewsItemAdded.Post.Text + payload.Data.CommentAdded.Comment.Text
}

const newsSubscription = `subscription { newsItemAdded { cursor event post { id text author { handle viewerFollows } wallOwner { handle } latestComments { text } } } }`

// idOf reads a user's id.
func (p person) idOf(t testing.TB, handle string) string {
	t.Helper()
	var answer struct{ User struct{ ID string } }
	p.do(t, `query($handle: String!) { user(handle: $handle) { id } }`, map[string]any{"handle": handle}, &answer)
	return answer.User.ID
}

// mutate runs a mutation that takes one input, and fails the test on userErrors. It answers with the id of the object, if it has one.
func (p person) mutate(t testing.TB, mutation, fields string, input map[string]any) string {
	t.Helper()
	inputType := strings.ToUpper(mutation[:1]) + mutation[1:] + "Input!"
	var answer struct {
		Payload struct {
			Post, Comment, Circle, User struct{ ID string }
			UserErrors                  []struct{ Code, Message string }
		}
	}
	p.do(t, `mutation($in: `+inputType+`) { payload: `+mutation+`(input: $in) { `+fields+` userErrors { code message } } }`, map[string]any{"in": input}, &answer)
	if len(answer.Payload.UserErrors) > 0 {
		t.Fatalf("%s: %v", mutation, answer.Payload.UserErrors)
	}
	return answer.Payload.Post.ID + answer.Payload.Comment.ID + answer.Payload.Circle.ID
}

// post writes a status with an audience.
func (p person) status(t testing.TB, text string, audience map[string]any) string {
	t.Helper()
	return p.mutate(t, "createPost", "post { id }", map[string]any{"content": map[string]any{"status": map[string]any{"text": text}}, "audience": audience})
}

var public = map[string]any{"kind": "PUBLIC"}

func (p person) follow(t testing.TB, handle string) {
	t.Helper()
	p.mutate(t, "followUser", "user { id }", map[string]any{"userId": p.idOf(t, handle)})
}

func (p person) comment(t testing.TB, post, text string) string {
	t.Helper()
	return p.mutate(t, "addComment", "comment { id }", map[string]any{"postId": post, "text": text})
}

func TestNewsArriveLive(t *testing.T) {
	forEachEngine(t, func(t *testing.T, e engine) {
		plaza := startPlaza(t, e)
		ada, bob, cara := plaza.as(t, "ada"), plaza.as(t, "bob"), plaza.as(t, "cara")
		bob.follow(t, "ada")
		news := bob.connect(t)
		news.subscribe(plaza, "news", newsSubscription)
		own := ada.connect(t)
		own.subscribe(plaza, "own", newsSubscription)
		// post writes as ada, and waits until the event has been handled: who may see it is decided then.
		post := func(text string, audience map[string]any) {
			t.Helper()
			ada.status(t, text, audience)
			if got := own.textOf(own.next()); got != text {
				t.Fatalf("ada's own news: got %q, want %q", got, text)
			}
		}
		cara.status(t, "by somebody whom bob does not follow", public)
		post("for nobody", map[string]any{"kind": "ONLY_ME"})
		post("for ada's circles, which bob is not in", map[string]any{"kind": "CIRCLES"})
		post("for all", public)
		if got := news.textOf(news.next()); got != "for all" {
			t.Errorf("got %q", got)
		}
		bob.mutate(t, "muteUser", "", map[string]any{"userId": bob.idOf(t, "ada")})
		post("muted", public)
		bob.mutate(t, "unmuteUser", "", map[string]any{"userId": bob.idOf(t, "ada")})
		ada.mutate(t, "blockUser", "", map[string]any{"userId": ada.idOf(t, "bob")})
		post("blocked", public)
		ada.mutate(t, "unblockUser", "", map[string]any{"userId": idBlocked(t, ada)})
		bob.follow(t, "ada")
		post("again", public)
		if got := news.textOf(news.next()); got != "again" {
			t.Errorf("got %q", got)
		}
	})
}

// idBlocked is the id of the one whom somebody blocks.
func idBlocked(t testing.TB, p person) string {
	t.Helper()
	var answer struct {
		Viewer struct {
			BlockedUsers struct{ Nodes []struct{ ID string } }
		}
	}
	p.do(t, `{ viewer { blockedUsers { nodes { id } } } }`, nil, &answer)
	return answer.Viewer.BlockedUsers.Nodes[0].ID
}

func TestCommentsArriveLive(t *testing.T) {
	forEachEngine(t, func(t *testing.T, e engine) {
		plaza := startPlaza(t, e)
		ada, bob := plaza.as(t, "ada"), plaza.as(t, "bob")
		post, other := ada.status(t, "talk", public), ada.status(t, "other", public)
		operation := `subscription { commentAdded(postId: "` + post + `") { cursor event comment { text author { handle } post { id } } } }`
		thread := plaza.as(t, "anyone").connect(t)
		thread.subscribe(plaza, "thread", operation)
		own := ada.connect(t)
		own.subscribe(plaza, "own", operation)
		bob.comment(t, other, "elsewhere")
		bob.comment(t, post, "first")
		if got := thread.textOf(thread.next()); got != "first" {
			t.Errorf("got %q", got)
		}
		ada.mutate(t, "setPostAudience", "post { id }", map[string]any{"postId": post, "audience": map[string]any{"kind": "ONLY_ME"}})
		ada.comment(t, post, "secret")
		// Who may see it is decided when the event is handled: wait for that.
		for got := own.textOf(own.next()); got != "secret"; got = own.textOf(own.next()) {
			t.Logf("before it: %s", got)
		}
		ada.mutate(t, "setPostAudience", "post { id }", map[string]any{"postId": post, "audience": public})
		ada.comment(t, post, "open")
		if got := thread.textOf(thread.next()); got != "open" {
			t.Errorf("got %q", got)
		}
	})
}

func TestSubscribingIsRefused(t *testing.T) {
	forEachEngine(t, func(t *testing.T, e engine) {
		plaza := startPlaza(t, e)
		hidden := plaza.as(t, "ada").status(t, "mine", map[string]any{"kind": "ONLY_ME"})
		anyone := plaza.as(t, "anyone").connect(t)
		for id, step := range map[string]struct{ operation, code string }{
			"news":      {newsSubscription, "UNAUTHENTICATED"},
			"hidden":    {`subscription { commentAdded(postId: "` + hidden + `") { cursor } }`, "NOT_FOUND"},
			"malformed": {`subscription { commentAdded(postId: "post_1") { cursor } }`, "BAD_USER_INPUT"},
		} {
			anyone.send(id, "subscribe", map[string]string{"query": step.operation})
			if m := anyone.next(); m.Type != "error" || m.ID != id || !strings.Contains(string(m.Payload), step.code) {
				t.Errorf("%s: got %+v %s", id, m, m.Payload)
			}
		}
	})
}

func TestSigningOutClosesSockets(t *testing.T) {
	forEachEngine(t, func(t *testing.T, e engine) {
		plaza := startPlaza(t, e)
		ada := plaza.as(t, "ada")
		news := ada.connect(t)
		news.subscribe(plaza, "news", newsSubscription)
		ada.do(t, `mutation { signOut { userErrors { code } } }`, nil, nil)
		news.mustClose()
	})
}

// TestSessionsThatAreOverCloseSockets: whatever ended them, and no event tells of it. Other sessions go on.
func TestSessionsThatAreOverCloseSockets(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, e engine) {
		st := &aheadStore{Store: e.open(t)}
		plaza := servePlaza(t, st)
		ada, bob := plaza.as(t, "ada"), plaza.as(t, "bob")
		over, goesOn := ada.connect(t), bob.connect(t)
		over.subscribe(plaza, "news", newsSubscription)
		goesOn.subscribe(plaza, "news", newsSubscription)
		removed := social.HashToken(ada.token)
		st.removed.Store(&removed)
		over.mustClose()
		bob.status(t, "still here", public)
		if got := goesOn.textOf(goesOn.next()); got != "still here" {
			t.Errorf("got %q", got)
		}
		st.ahead.Store(int64(social.SessionLifetime + time.Hour))
		goesOn.mustClose()
	})
}

// aheadStore is a store without one of its sessions, and at a time to come.
type aheadStore struct {
	storage.Store
	removed atomic.Pointer[[32]byte]
	ahead   atomic.Int64
}

func (s *aheadStore) LiveSessions(ctx context.Context, tokenHashes [][32]byte, now time.Time) ([][32]byte, error) {
	if removed := s.removed.Load(); removed != nil {
		tokenHashes = slices.DeleteFunc(slices.Clone(tokenHashes), func(hash [32]byte) bool { return hash == *removed })
	}
	return s.Store.LiveSessions(ctx, tokenHashes, now.Add(time.Duration(s.ahead.Load())))
}

// mustClose reads until the server closes the socket because its session has ended.
func (s *socket) mustClose() {
	s.t.Helper()
	for {
		var m message
		_ = s.conn.SetReadDeadline(time.Now().Add(testtime.Patience()))
		if err := s.conn.ReadJSON(&m); err != nil {
			if !websocket.IsCloseError(err, 4403) {
				s.t.Errorf("want close code 4403, got %v", err)
			}
			return
		}
	}
}

// TestDeletingTheAccountClosesSockets: those of all sign-ins, not only of the one that did it.
func TestDeletingTheAccountClosesSockets(t *testing.T) {
	forEachEngine(t, func(t *testing.T, e engine) {
		plaza := startPlaza(t, e)
		ada := plaza.as(t, "ada")
		var answer struct{ SignIn struct{ Token string } }
		ada.do(t, `mutation { signIn(input: {handle: "ada", password: "password of ada"}) { token } }`, nil, &answer)
		own, other := ada.connect(t), person{ada.url, answer.SignIn.Token}.connect(t)
		for _, s := range []*socket{own, other} {
			s.subscribe(plaza, "news", newsSubscription)
		}
		ada.mutate(t, "deleteAccount", "", map[string]any{"password": "password of ada"})
		own.mustClose()
		other.mustClose()
	})
}

// TestServersShareEvents makes a post through one server for a subscriber of another.
func TestServersShareEvents(t *testing.T) {
	uri := mongoURI(t)
	one := servePlaza(t, openMongoDB(t, uri, mongodb.Options{}))
	other := servePlaza(t, openMongoDB(t, uri, mongodb.Options{}))
	ada, bob := one.as(t, "ada"), one.as(t, "bob")
	bob.follow(t, "ada")
	bob.url = other.url
	news := bob.connect(t)
	news.subscribe(other, "news", newsSubscription)
	ada.status(t, "across", public)
	if got := news.textOf(news.next()); got != "across" {
		t.Errorf("got %q", got)
	}
}

// TestQueuedItemsAreCheckedAgain hides posts from a subscriber who has not taken them yet.
func TestQueuedItemsAreCheckedAgain(t *testing.T) {
	forEachEngine(t, func(t *testing.T, e engine) {
		for name, hide := range map[string]func(ada, bob person, adaID, bobID, post string){
			"blocked": func(ada, _ person, _, bobID, _ string) {
				ada.mutate(t, "blockUser", "", map[string]any{"userId": bobID})
			},
			"muted": func(_, bob person, adaID, _, _ string) {
				bob.mutate(t, "muteUser", "", map[string]any{"userId": adaID})
			},
			"unfollow": func(_, bob person, adaID, _, _ string) {
				bob.mutate(t, "unfollowUser", "", map[string]any{"userId": adaID})
			},
			"deleted": func(ada, _ person, _, _, post string) {
				ada.mutate(t, "deletePost", "", map[string]any{"postId": post})
			},
			"account gone": func(ada, _ person, _, _, _ string) {
				ada.mutate(t, "deleteAccount", "", map[string]any{"password": "password of ada"})
			},
			"only me": func(ada, _ person, _, _, post string) {
				ada.mutate(t, "setPostAudience", "post { id }", map[string]any{"postId": post, "audience": map[string]any{"kind": "ONLY_ME"}})
			},
		} {
			t.Run(name, func(t *testing.T) {
				plaza := startPlaza(t, e)
				ada, bob := plaza.as(t, "ada"), plaza.as(t, "bob")
				bob.follow(t, "ada")
				adaID, bobID := bob.idOf(t, "ada"), ada.idOf(t, "bob")
				viewer, err := social.ParseUserID(bobID)
				if err != nil {
					t.Fatal(err)
				}
				hub := plaza.server.hub
				items := hub.News(t.Context(), live.Subscriber{Viewer: viewer}, func(error) {})
				post := ada.status(t, "soon hidden", public)
				item := <-items
				if shows, err := hub.Recheck(t.Context(), item, viewer); err != nil || !shows {
					t.Fatalf("before: shows %v, %v", shows, err)
				}
				hide(ada, bob, adaID, bobID, post)
				if shows, err := hub.Recheck(t.Context(), item, viewer); err != nil || shows {
					t.Errorf("after: shows %v, %v", shows, err)
				}
			})
		}
	})
}

// TestSigningOutEndsTheDocument signs out in the middle of a document.
func TestSigningOutEndsTheDocument(t *testing.T) {
	plaza := startPlaza(t, engines[0])
	ada := plaza.as(t, "ada")
	answer := ada.raw(t, `mutation { signOut { userErrors { code } } createPost(input: {content: {status: {text: "too late"}}, audience: {kind: PUBLIC}}) { post { id } } }`)
	if !strings.Contains(answer, "UNAUTHENTICATED") || strings.Contains(answer, "post_") {
		t.Errorf("the rest of the document still has rights: %s", answer)
	}
}
