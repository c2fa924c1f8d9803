package api

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"plaza/internal/plazatest"
	"plaza/live"
	"plaza/social"
	"plaza/storage"
	"plaza/storage/mongodb"
	"plaza/storage/mongodb/mongotest"
)

func TestNewsArriveLive(t *testing.T) {
	t.Parallel()
	plazatest.ForEachEngine(t, func(t *testing.T, e plazatest.Engine) {
		plaza := plazatest.Start(t, e)
		ada, bob, cara := plaza.As(t, "ada"), plaza.As(t, "bob"), plaza.As(t, "cara")
		bob.Follow(t, "ada")
		news := bob.Connect(t)
		news.Subscribe(plaza, "news", plazatest.NewsSubscription)
		own := ada.Connect(t)
		own.Subscribe(plaza, "own", plazatest.NewsSubscription)
		// post posts as ada, and waits until the event has been handled, because visibility is
		// decided at that time.
		post := func(text string, audience map[string]any) {
			t.Helper()
			ada.Status(t, text, audience)
			if got := own.TextOf(own.Next()); got != text {
				t.Fatalf("ada's own news: got %q, want %q", got, text)
			}
		}
		cara.Status(t, "by an author bob does not follow", plazatest.Public)
		post("only for me", map[string]any{"kind": "ONLY_ME"})
		post("for ada's circles, which bob is not in", map[string]any{"kind": "CIRCLES"})
		post("for all", plazatest.Public)
		if got := news.TextOf(news.Next()); got != "for all" {
			t.Errorf("got %q", got)
		}
		bob.Mutate(t, "muteUser", "", map[string]any{"userId": bob.IDOf(t, "ada")})
		post("muted", plazatest.Public)
		bob.Mutate(t, "unmuteUser", "", map[string]any{"userId": bob.IDOf(t, "ada")})
		ada.Mutate(t, "blockUser", "", map[string]any{"userId": ada.IDOf(t, "bob")})
		post("blocked", plazatest.Public)
		ada.Mutate(t, "unblockUser", "", map[string]any{"userId": idBlocked(t, ada)})
		bob.Follow(t, "ada")
		post("again", plazatest.Public)
		if got := news.TextOf(news.Next()); got != "again" {
			t.Errorf("got %q", got)
		}
	})
}

// idBlocked returns the id of the user that p blocks.
func idBlocked(t testing.TB, p plazatest.Person) string {
	t.Helper()
	var answer struct {
		Viewer struct {
			BlockedUsers struct{ Nodes []struct{ ID string } }
		}
	}
	p.Do(t, `{ viewer { blockedUsers { nodes { id } } } }`, nil, &answer)
	return answer.Viewer.BlockedUsers.Nodes[0].ID
}

func TestCommentsArriveLive(t *testing.T) {
	t.Parallel()
	plazatest.ForEachEngine(t, func(t *testing.T, e plazatest.Engine) {
		plaza := plazatest.Start(t, e)
		ada, bob := plaza.As(t, "ada"), plaza.As(t, "bob")
		post, other := ada.Status(t, "talk", plazatest.Public), ada.Status(t, "other", plazatest.Public)
		operation := `subscription { commentAdded(postId: "` + post + `") { cursor event comment { text author { handle } post { id } } } }`
		thread := plaza.As(t, "anyone").Connect(t)
		thread.Subscribe(plaza, "thread", operation)
		own := ada.Connect(t)
		own.Subscribe(plaza, "own", operation)
		bob.Comment(t, other, "elsewhere")
		bob.Comment(t, post, "first")
		if got := thread.TextOf(thread.Next()); got != "first" {
			t.Errorf("got %q", got)
		}
		ada.Mutate(t, "setPostAudience", "post { id }", map[string]any{"postId": post, "audience": map[string]any{"kind": "ONLY_ME"}})
		ada.Comment(t, post, "secret")
		// Visibility is decided when the event is handled, so wait for that.
		for got := own.TextOf(own.Next()); got != "secret"; got = own.TextOf(own.Next()) {
			t.Logf("before it: %s", got)
		}
		ada.Mutate(t, "setPostAudience", "post { id }", map[string]any{"postId": post, "audience": plazatest.Public})
		ada.Comment(t, post, "open")
		if got := thread.TextOf(thread.Next()); got != "open" {
			t.Errorf("got %q", got)
		}
	})
}

// TestLiveCommentsAreEntriesOfTheirThread: each order of the thread has the cursors that its
// subscribers get, also from the past.
func TestLiveCommentsAreEntriesOfTheirThread(t *testing.T) {
	t.Parallel()
	plazatest.ForEachEngine(t, func(t *testing.T, e plazatest.Engine) {
		plaza := plazatest.Start(t, e)
		ada := plaza.As(t, "ada")
		post := ada.Status(t, "talk", plazatest.Public)
		first := ada.Comment(t, post, "first")
		var before struct {
			Post struct {
				Comments struct{ PageInfo struct{ EndCursor string } }
			}
		}
		ada.Do(t, `query($id: ID!) { post(id: $id) { comments { pageInfo { endCursor } } } }`, map[string]any{"id": post}, &before)
		const entries = `oldest: edge { cursor node { id } } newest: edge(order: NEWEST) { cursor node { id } } threaded: edge(order: THREADED) { cursor node { id } }`
		live, past := ada.Connect(t), ada.Connect(t)
		live.Subscribe(plaza, "live", `subscription { commentAdded(postId: "`+post+`") { `+entries+` } }`)
		reply := ada.Mutate(t, "addComment", "comment { id }", map[string]any{"postId": post, "parentId": first, "text": "reply"})
		past.Subscribe(plaza, "past", `subscription { commentAdded(postId: "`+post+`", after: "`+before.Post.Comments.PageInfo.EndCursor+`") { `+entries+` } }`)

		type entry struct {
			Cursor string
			Node   struct{ ID string }
		}
		type page struct{ Edges []entry }
		var thread struct{ Post map[string]page }
		ada.Do(t, `query($id: ID!) { post(id: $id) {
			oldest: comments(order: OLDEST, last: 1) { edges { cursor node { id } } }
			newest: comments(order: NEWEST, first: 1) { edges { cursor node { id } } }
			threaded: comments(order: THREADED, last: 1) { edges { cursor node { id } } }
		} }`, map[string]any{"id": post}, &thread)
		for name, socket := range map[string]*plazatest.Socket{"live": live, "past": past} {
			var item struct {
				Data struct{ CommentAdded map[string]entry }
			}
			if err := json.Unmarshal(socket.Next().Payload, &item); err != nil {
				t.Fatal(err)
			}
			for order, page := range thread.Post {
				if got := item.Data.CommentAdded[order]; got != page.Edges[0] || got.Node.ID != reply {
					t.Errorf("%s, %s: got %+v, want %+v", name, order, got, page.Edges[0])
				}
			}
		}
	})
}

func TestSubscribingIsRefused(t *testing.T) {
	t.Parallel()
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		plaza := plazatest.Start(t, e)
		hidden := plaza.As(t, "ada").Status(t, "mine", map[string]any{"kind": "ONLY_ME"})
		anyone := plaza.As(t, "anyone").Connect(t)
		for id, step := range map[string]struct{ operation, code string }{
			"news":              {plazatest.NewsSubscription, "UNAUTHENTICATED"},
			"hidden":            {`subscription { commentAdded(postId: "` + hidden + `") { cursor } }`, "NOT_FOUND"},
			"incoming":          {incomingAfter(""), "UNAUTHENTICATED"},
			"missing wall":      {wallAfter(missingID("user"), ""), "NOT_FOUND"},
			"malformed wall":    {wallAfter("user_1", ""), "BAD_USER_INPUT"},
			"hidden changes":    {`subscription { commentChanged(postId: "` + hidden + `") { event } }`, "NOT_FOUND"},
			"missing changes":   {`subscription { commentChanged(postId: "` + missingID("post") + `") { event } }`, "NOT_FOUND"},
			"malformed changes": {`subscription { commentChanged(postId: "post_1") { event } }`, "BAD_USER_INPUT"},
			"malformed":         {`subscription { commentAdded(postId: "post_1") { cursor } }`, "BAD_USER_INPUT"},
		} {
			anyone.Send(id, "subscribe", map[string]string{"query": step.operation})
			if m := anyone.Next(); m.Type != "error" || m.ID != id || !strings.Contains(string(m.Payload), step.code) {
				t.Errorf("%s: got %+v %s", id, m, m.Payload)
			}
		}
	})
}

func TestSigningOutClosesSockets(t *testing.T) {
	t.Parallel()
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		plaza := plazatest.Start(t, e)
		ada := plaza.As(t, "ada")
		news := ada.Connect(t)
		news.Subscribe(plaza, "news", plazatest.NewsSubscription)
		ada.Do(t, `mutation { signOut { userErrors { code } } }`, nil, nil)
		news.MustClose()
	})
}

// TestEndedSessionsCloseSockets ends sessions without an event. Their sockets close; those of other
// sessions stay open.
func TestEndedSessionsCloseSockets(t *testing.T) {
	t.Parallel()
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		st := &aheadStore{Store: e.Open(t)}
		plaza := plazatest.Serve(t, st)
		ada, bob := plaza.As(t, "ada"), plaza.As(t, "bob")
		over, goesOn := ada.Connect(t), bob.Connect(t)
		over.Subscribe(plaza, "news", plazatest.NewsSubscription)
		goesOn.Subscribe(plaza, "news", plazatest.NewsSubscription)
		removed := social.HashToken(ada.Token)
		st.removed.Store(&removed)
		over.MustClose()
		bob.Status(t, "still here", plazatest.Public)
		if got := goesOn.TextOf(goesOn.Next()); got != "still here" {
			t.Errorf("got %q", got)
		}
		st.ahead.Store(int64(social.SessionLifetime + time.Hour))
		goesOn.MustClose()
	})
}

// aheadStore is a store that lacks one of its sessions and whose clock is ahead.
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

// TestDeletingTheAccountClosesSockets checks that the sockets of all sessions close, not only those
// of the session that deleted the account.
func TestDeletingTheAccountClosesSockets(t *testing.T) {
	t.Parallel()
	plazatest.ForEachEngine(t, func(t *testing.T, e plazatest.Engine) {
		plaza := plazatest.Start(t, e)
		ada := plaza.As(t, "ada")
		var answer struct{ SignIn struct{ Token string } }
		ada.Do(t, `mutation { signIn(input: {handle: "ada", password: "password of ada"}) { token } }`, nil, &answer)
		own, other := ada.Connect(t), plazatest.Person{URL: ada.URL, Token: answer.SignIn.Token}.Connect(t)
		for _, s := range []*plazatest.Socket{own, other} {
			s.Subscribe(plaza, "news", plazatest.NewsSubscription)
		}
		ada.Mutate(t, "deleteAccount", "", map[string]any{"password": "password of ada"})
		own.MustClose()
		other.MustClose()
	})
}

// TestServersShareEvents makes a post through one server for a subscriber of another.
func TestServersShareEvents(t *testing.T) {
	t.Parallel()
	uri := mongotest.Reused(t)
	one := plazatest.Serve(t, plazatest.OpenMongoDB(t, uri, mongodb.Options{}))
	other := plazatest.Serve(t, plazatest.OpenMongoDB(t, uri, mongodb.Options{}))
	ada, bob := one.As(t, "ada"), one.As(t, "bob")
	bob.Follow(t, "ada")
	bob.URL = other.URL
	news := bob.Connect(t)
	news.Subscribe(other, "news", plazatest.NewsSubscription)
	ada.Status(t, "across", plazatest.Public)
	if got := news.TextOf(news.Next()); got != "across" {
		t.Errorf("got %q", got)
	}
}

// unlimited is the part of a receiver that admits everything.
type unlimited struct{}

func (unlimited) Await()      {}
func (unlimited) Admit() bool { return true }

// slowReceiver delays one item: the first one, after those that it skips.
type slowReceiver struct {
	unlimited

	skips          int
	once           sync.Once
	encoding, goOn chan struct{}
	sent           chan string
	ended          chan error // nil if it is not of interest
	encoders       int
	encoded        []encodedText
}

// encodedText is a text and the number of the encoder that encoded it.
type encodedText struct {
	text string
	by   int
}

func (r *slowReceiver) Encoder() func(*live.Item) []byte {
	r.encoders++
	by := r.encoders
	return func(item *live.Item) []byte {
		r.encoded = append(r.encoded, encodedText{item.Post.Content.Text(), by})
		return r.encode(item)
	}
}

func (r *slowReceiver) encode(item *live.Item) []byte {
	if r.skips > 0 {
		r.skips--
	} else {
		r.once.Do(func() { close(r.encoding); <-r.goOn })
	}
	return []byte(item.Post.Content.Text())
}

func (r *slowReceiver) Send(texts ...[]byte) {
	for _, text := range texts {
		r.sent <- string(text)
	}
}

func (r *slowReceiver) End(reason error) {
	if r.ended != nil {
		r.ended <- reason
	}
}

// TestQueuedItemsAreCheckedAgain hides posts from a subscriber while they are being encoded for
// that subscriber.
func TestQueuedItemsAreCheckedAgain(t *testing.T) {
	t.Parallel()
	plazatest.ForEachEngine(t, func(t *testing.T, e plazatest.Engine) {
		for name, hide := range map[string]func(ada, bob plazatest.Person, adaID, bobID, post string){
			"blocked": func(ada, _ plazatest.Person, _, bobID, _ string) {
				ada.Mutate(t, "blockUser", "", map[string]any{"userId": bobID})
			},
			"muted": func(_, bob plazatest.Person, adaID, _, _ string) {
				bob.Mutate(t, "muteUser", "", map[string]any{"userId": adaID})
			},
			"unfollow": func(_, bob plazatest.Person, adaID, _, _ string) {
				bob.Mutate(t, "unfollowUser", "", map[string]any{"userId": adaID})
			},
			"deleted": func(ada, _ plazatest.Person, _, _, post string) {
				ada.Mutate(t, "deletePost", "", map[string]any{"postId": post})
			},
			"account gone": func(ada, _ plazatest.Person, _, _, _ string) {
				ada.Mutate(t, "deleteAccount", "", map[string]any{"password": "password of ada"})
			},
			"only me": func(ada, _ plazatest.Person, _, _, post string) {
				ada.Mutate(t, "setPostAudience", "post { id }", map[string]any{"postId": post, "audience": map[string]any{"kind": "ONLY_ME"}})
			},
		} {
			t.Run(name, func(t *testing.T) {
				plaza := plazatest.Start(t, e)
				ada, bob := plaza.As(t, "ada"), plaza.As(t, "bob")
				bob.Follow(t, "ada")
				adaID, bobID := bob.IDOf(t, "ada"), ada.IDOf(t, "bob")
				viewer, err := social.ParseUserID(bobID)
				if err != nil {
					t.Fatal(err)
				}
				slow := &slowReceiver{encoding: make(chan struct{}), goOn: make(chan struct{}), sent: make(chan string, 2)}
				plaza.Server.Hub.News(t.Context(), live.Subscriber{Viewer: viewer}, "", slow)
				post := ada.Status(t, "soon hidden", plazatest.Public)
				<-slow.encoding
				hide(ada, bob, adaID, bobID, post)
				bob.Status(t, "own", plazatest.Public)
				close(slow.goOn)
				if got := <-slow.sent; got != "own" {
					t.Errorf("%q was sent", got)
				}
			})
		}
	})
}

// TestSigningOutEndsTheDocument signs out in the middle of a document.
func TestSigningOutEndsTheDocument(t *testing.T) {
	t.Parallel()
	plaza := plazatest.Start(t, plazatest.Engines[0])
	ada := plaza.As(t, "ada")
	answer := ada.Raw(t, `mutation { signOut { userErrors { code } } createPost(input: {content: {status: {text: "too late"}}, audience: {kind: PUBLIC}}) { post { id } } }`)
	if !strings.Contains(answer, "UNAUTHENTICATED") || strings.Contains(answer, "post_") {
		t.Errorf("the rest of the document still has rights: %s", answer)
	}
}
