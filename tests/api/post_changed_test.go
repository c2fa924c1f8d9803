package api

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"plaza/internal/plazatest"
	"plaza/social"
)

// postChange is an item of postChanged.
type postChange struct {
	Event, PostID string
	Post          *struct {
		Text         string
		CommentCount int
	}
	raw string
}

func nextChange(t *testing.T, s *plazatest.Socket) postChange {
	t.Helper()
	m := s.Next()
	var payload struct {
		Data struct{ PostChanged *postChange }
	}
	if m.Type != "next" || json.Unmarshal(m.Payload, &payload) != nil || payload.Data.PostChanged == nil {
		t.Fatalf("want a change, got %+v %s", m, m.Payload)
	}
	change := *payload.Data.PostChanged
	change.raw = withoutCostOf(string(m.Payload))
	if (change.Event == "REMOVED") != (change.Post == nil) || change.Event != "REMOVED" && change.Event != "CHANGED" {
		t.Errorf("a %s has the post %+v", change.Event, change.Post)
	}
	return change
}

// changesOf subscribes to the changes of posts.
func changesOf(current bool, posts ...string) string {
	ids, _ := json.Marshal(append([]string{}, posts...))
	return fmt.Sprintf(`subscription { postChanged(postIds: %s, current: %t) { event postId post {
		id text commentCount reactionCounts { kind count } viewerReaction viewerCanComment audience { kind } ... on PollPost { votesCount viewerVote }
	} } }`, ids, current)
}

// watchPost subscribes to the changes of a post, and waits until the subscription has begun.
func watchPost(t *testing.T, p plazatest.Person, post string) *plazatest.Socket {
	t.Helper()
	s := p.Connect(t)
	s.Send("1", "subscribe", map[string]string{"query": changesOf(true, post)})
	if begin := nextChange(t, s); begin.Event != "CHANGED" || begin.PostID != post {
		t.Errorf("it begins with %s", begin.raw)
	}
	return s
}

// newPoll creates a public poll with two options.
func newPoll(t *testing.T, author plazatest.Person) (post string) {
	t.Helper()
	return author.Mutate(t, "createPost", "post { id }", map[string]any{
		"content": map[string]any{"poll": map[string]any{"question": "Which?", "options": []string{"this", "that"}}}, "audience": plazatest.Public,
	})
}

// TestPostChanges: every change of a post arrives, for its author, for others and for signed-out
// clients.
func TestPostChanges(t *testing.T) {
	t.Parallel()
	plazatest.ForEachEngine(t, func(t *testing.T, e plazatest.Engine) {
		plaza := plazatest.Start(t, e)
		ada, bob := plaza.As(t, "ada"), plaza.As(t, "bob")
		poll := newPoll(t, ada)
		sockets := map[string]*plazatest.Socket{"ada": watchPost(t, ada, poll), "bob": watchPost(t, bob, poll), "": watchPost(t, plazatest.Person{URL: ada.URL}, poll)}
		var comment string
		for _, step := range []struct {
			act         func()
			all, forBob string
		}{
			{func() { bob.Mutate(t, "addReaction", "", map[string]any{"postId": poll, "kind": "WOW"}) }, `{"kind":"WOW","count":1}`, `"viewerReaction":"WOW"`},
			{func() { bob.Mutate(t, "removeReaction", "", map[string]any{"postId": poll}) }, `"reactionCounts":[]`, `"viewerReaction":null`},
			{func() { bob.Mutate(t, "votePoll", "", map[string]any{"postId": poll, "option": 1}) }, `"votesCount":1`, `"viewerVote":`},
			{func() { comment = bob.Comment(t, poll, "hello") }, `"commentCount":1`, `"commentCount":1`},
			{func() { bob.DeleteComment(t, comment) }, `"commentCount":0`, `"commentCount":0`},
			{func() {
				ada.Mutate(t, "setReplyPolicy", "", map[string]any{"postId": poll, "replies": map[string]any{"kind": "NOBODY"}})
			}, poll, `"viewerCanComment":false`},
			{func() { ada.Mutate(t, "deletePost", "", map[string]any{"postId": poll}) }, fmt.Sprintf(`{"event":"REMOVED","postId":%q,"post":null}`, poll), ""},
		} {
			step.act()
			for name, s := range sockets {
				got := nextChange(t, s)
				for !strings.Contains(got.raw, step.all) || name == "bob" && !strings.Contains(got.raw, step.forBob) {
					got = nextChange(t, s) // the change before this one, sent again
				}
			}
		}
	})
}

// TestPostChangesArePrivate: a post that is hidden from a subscriber arrives as removed, whatever
// hid it, with only its id; afterwards nothing arrives until the subscriber may see it again.
func TestPostChangesArePrivate(t *testing.T) {
	t.Parallel()
	plazatest.ForEachEngine(t, func(t *testing.T, e plazatest.Engine) {
		plaza := plazatest.Start(t, e)
		reader := plaza.As(t, "reader")
		own := reader.Status(t, "own", plazatest.Public)
		for i, hide := range []struct {
			name          string
			hide, restore func(ada plazatest.Person, post, circle, readerID string)
		}{
			{"audience", setAudience(t, "ONLY_ME"), setAudience(t, "PUBLIC")},
			{"block", onUser(t, "blockUser"), onUser(t, "unblockUser")},
			{"member", onMember(t, "removeFromCircle"), onMember(t, "addToCircle")},
			{"circle", func(ada plazatest.Person, _, circle, _ string) {
				ada.Mutate(t, "deleteCircle", "", map[string]any{"circleId": circle})
			}, nil},
			{"deletion", func(ada plazatest.Person, post, _, _ string) {
				ada.Mutate(t, "deletePost", "", map[string]any{"postId": post})
			}, nil},
			{"account", func(ada plazatest.Person, _, _, _ string) {
				ada.Mutate(t, "deleteAccount", "", map[string]any{"password": "password of ada5"})
			}, nil},
		} {
			ada := plaza.As(t, fmt.Sprint("ada", i))
			readerID := ada.IDOf(t, "reader")
			circle := ada.Mutate(t, "createCircle", "circle { id }", map[string]any{"name": "some"})
			onMember(t, "addToCircle")(ada, "", circle, readerID)
			audience := plazatest.Public
			if hide.name == "member" || hide.name == "circle" {
				audience = map[string]any{"kind": "LISTED", "circleIds": []string{circle}}
			}
			post := ada.Status(t, "first", audience)
			s := watchPost(t, reader, post)
			s.Send("2", "subscribe", map[string]string{"query": changesOf(true, own)})
			next := func() postChange { // without the changes of own that were merged, or that it begins with
				got := nextChange(t, s)
				for got.PostID == own && got.Post.CommentCount <= i {
					got = nextChange(t, s)
				}
				return got
			}
			hide.hide(ada, post, circle, readerID)
			want := fmt.Sprintf(`{"data":{"postChanged":{"event":"REMOVED","postId":%q,"post":null}}`, post)
			got := next()
			for got.PostID == post && got.Event == "CHANGED" {
				got = next() // because the reader was added to the circle
			}
			if got.raw != want {
				t.Errorf("%s: got %s, want %s", hide.name, got.raw, want)
			}
			if hide.name != "deletion" && hide.name != "account" {
				ada.Comment(t, post, "hidden")
			}
			reader.Comment(t, own, fmt.Sprint("done ", i))
			if got := next(); got.PostID != own {
				t.Errorf("%s: of a hidden post, %s arrives", hide.name, got.raw)
			}
			if hide.restore == nil {
				continue
			}
			hide.restore(ada, post, circle, readerID)
			got = next()
			for got.PostID == own { // again
				got = next()
			}
			if got.PostID != post || got.Event != "CHANGED" || got.Post.CommentCount != 1 {
				t.Errorf("%s: when it is visible again, %s arrives", hide.name, got.raw)
			}
		}
	})
}

// TestOwnersOfWallsComeAndGo: a post arrives when the subscriber ceases to see the owner of the
// wall that it is on, or begins to. Blocks send nothing to other subscribers.
func TestOwnersOfWallsComeAndGo(t *testing.T) {
	t.Parallel()
	plazatest.ForEachEngine(t, func(t *testing.T, e plazatest.Engine) {
		plaza := plazatest.Start(t, e)
		ada, ben, dan, reader := plaza.As(t, "ada"), plaza.As(t, "ben"), plaza.As(t, "dan"), plaza.As(t, "reader")
		post := postOnWall(t, ada, "ben", "PUBLIC")
		watch := func(p plazatest.Person) *plazatest.Socket {
			t.Helper()
			s := p.Connect(t)
			s.Send("1", "subscribe", map[string]string{"query": fmt.Sprintf(`subscription { postChanged(postIds: [%q], current: true) { event postId post { text wallOwner { handle } } } }`, post)})
			nextChange(t, s)
			return s
		}
		wants := func(s *plazatest.Socket, act, text, owner string) {
			t.Helper()
			want := fmt.Sprintf(`{"data":{"postChanged":{"event":"CHANGED","postId":%q,"post":{"text":%q,"wallOwner":%s}}}`, post, text, owner)
			if got := nextChange(t, s); got.raw != want {
				t.Fatalf("%s: got %s, want %s", act, got.raw, want)
			}
		}
		const seen, unseen = `{"handle":"ben"}`, `null`
		s, bystander := watch(reader), watch(dan)
		readerID, benID := ada.IDOf(t, "reader"), ada.IDOf(t, "ben")
		for _, block := range []struct {
			by   plazatest.Person
			user string
		}{{reader, benID}, {ben, readerID}} {
			block.by.Mutate(t, "blockUser", "", map[string]any{"userId": block.user})
			wants(s, "a block", "hi", unseen)
			block.by.Mutate(t, "unblockUser", "", map[string]any{"userId": block.user})
			wants(s, "the end of a block", "hi", seen)
		}
		edit(t, ada, post, "edited")
		wants(s, "an edit", "edited", seen)
		wants(bystander, "an edit", "edited", seen)
		ben.Mutate(t, "deactivateAccount", "", map[string]any{"password": "password of ben"})
		wants(s, "the owner leaves", "edited", unseen)
		ada.Raw(t, `mutation { signIn(input: {handle: "ben", password: "password of ben"}) { token } }`)
		wants(s, "the owner returns", "edited", seen)
	})
}

// TestPostsOfDeletedAccounts: a wall that someone has open loses the posts of an account that is
// deleted, on every engine. Notifications about these posts disappear silently: when the posts are
// removed must not show.
func TestPostsOfDeletedAccounts(t *testing.T) {
	t.Parallel()
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		plaza := plazatest.Start(t, e)
		ada, ben, cem := plaza.As(t, "ada"), plaza.As(t, "ben"), plaza.As(t, "cem")
		plaza.Notify(t)
		notified := followNotifications(t, plaza, ada)
		post := postOnWall(t, ben, "ada", "PUBLIC")
		wantNotified(t, notified, "ADDED WALL_POST by ben, 1 unread")
		cem.Comment(t, post, "hello @ada")
		wantNotified(t, notified, "ADDED MENTION by cem, 2 unread")
		socket := watchPost(t, ada, post)
		ben.Mutate(t, "deleteAccount", "", map[string]any{"password": "password of ben"})
		got := nextChange(t, socket)
		for got.Event == "CHANGED" {
			got = nextChange(t, socket) // by the comment, sent again
		}
		if want := fmt.Sprintf(`{"data":{"postChanged":{"event":"REMOVED","postId":%q,"post":null}}`, post); got.raw != want {
			t.Errorf("the owner of the wall got %s, want %s", got.raw, want)
		}
		wantListed(t, ada)
		plaza.Notify(t)
		cem.Follow(t, "ada")
		wantNotified(t, notified, "ADDED FOLLOW by cem, 1 unread")
	})
}

// TestPostsLoseDeletedUsers: a post arrives when a deleted account's reaction, vote or wall is gone
// from it.
func TestPostsLoseDeletedUsers(t *testing.T) {
	t.Parallel()
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		plaza := plazatest.Start(t, e)
		ada, ben := plaza.As(t, "ada"), plaza.As(t, "ben")
		poll := newPoll(t, ada)
		liked, moved := ada.Status(t, "liked", plazatest.Public), postOnWall(t, ada, "ben", "PUBLIC")
		ben.Mutate(t, "addReaction", "", map[string]any{"postId": liked, "kind": "WOW"})
		ben.Mutate(t, "votePoll", "", map[string]any{"postId": poll, "option": 1})
		s := ada.Connect(t)
		s.Send("1", "subscribe", map[string]string{"query": fmt.Sprintf(`subscription { postChanged(postIds: [%q, %q, %q], current: true) { event postId post {
			text reactionCounts { count } wallOwner { handle } ... on PollPost { votesCount }
		} } }`, liked, poll, moved)})
		for _, part := range []string{`"count":1`, `"votesCount":1`, `{"handle":"ben"}`} {
			if got := nextChange(t, s); !strings.Contains(got.raw, part) {
				t.Fatalf("it begins with %s, want %s", got.raw, part)
			}
		}
		ben.Mutate(t, "deleteAccount", "", map[string]any{"password": "password of ben"})
		wants := map[string]string{liked: `"reactionCounts":[]`, poll: `"votesCount":0`, moved: `{"handle":"ada"}`}
		for len(wants) > 0 {
			if got := nextChange(t, s); got.Event == "CHANGED" && strings.Contains(got.raw, wants[got.PostID]) {
				delete(wants, got.PostID)
			}
		}
	})
}

// TestPreviewsOfManyPostsChange: someone who watches more posts than one look-up has gets the changes
// of their previews, too.
func TestPreviewsOfManyPostsChange(t *testing.T) {
	t.Parallel()
	plaza := plazatest.Start(t, plazatest.Engines[0])
	ada, cem, reader := plaza.As(t, "ada"), plaza.As(t, "cem"), plaza.As(t, "reader")
	var posts []string
	for i := range 201 {
		posts = append(posts, ada.Status(t, strconv.Itoa(i), plazatest.Public))
	}
	last := posts[len(posts)-1]
	cem.Comment(t, last, "by cem")
	s := reader.Connect(t)
	for some := range slices.Chunk(posts, 100) {
		ids, err := json.Marshal(some)
		if err != nil {
			t.Fatal(err)
		}
		s.Subscribe(plaza, some[0], fmt.Sprintf(`subscription { postChanged(postIds: %s) { event postId post { text latestComments { text } } } }`, ids))
	}
	reader.Mutate(t, "muteUser", "", map[string]any{"userId": ada.IDOf(t, "cem")})
	for {
		if got := nextChange(t, s); got.PostID == last {
			if got.Event != "CHANGED" || !strings.Contains(got.raw, `"latestComments":[]`) {
				t.Errorf("got %s", got.raw)
			}
			return
		}
	}
}

// TestPreviewsChangeWithRelations: a post by someone else arrives when the subscriber begins to see
// comments in its preview, or ceases to: after blocks on either side, mutes, and mutes of the thread.
// Posts without such comments don't arrive, and other subscribers get nothing.
func TestPreviewsChangeWithRelations(t *testing.T) {
	t.Parallel()
	plazatest.ForEachEngine(t, func(t *testing.T, e plazatest.Engine) {
		plaza := plazatest.Start(t, e)
		ada, bob, cem, dan, eve := plaza.As(t, "ada"), plaza.As(t, "bob"), plaza.As(t, "cem"), plaza.As(t, "dan"), plaza.As(t, "eve")
		post, long, other := ada.Status(t, "post", plazatest.Public), ada.Status(t, "long", plazatest.Public), ada.Status(t, "other", plazatest.Public)
		cem.Comment(t, post, "by cem")
		cem.Comment(t, long, "by cem")
		bob.Comment(t, post, "by bob")
		bob.Comment(t, other, "by bob")
		for range social.PreviewSize { // these comments alone are stored with the post
			eve.Comment(t, long, "by eve")
		}
		reader := plaza.As(t, "reader")
		ids := map[string]string{"cem": ada.IDOf(t, "cem"), "eve": ada.IDOf(t, "eve"), "reader": ada.IDOf(t, "reader")}
		on := func(mutation string, who plazatest.Person, whom string) func() {
			return func() { who.Mutate(t, mutation, "", map[string]any{"userId": ids[whom]}) }
		}
		on("muteUser", reader, "eve")()
		watch := func(p plazatest.Person) *plazatest.Socket {
			t.Helper()
			s := p.Connect(t)
			s.Send("1", "subscribe", map[string]string{"query": fmt.Sprintf(
				`subscription { postChanged(postIds: [%q, %q, %q], current: true) { event postId post { text latestComments { text } } } }`, post, long, other)})
			for range 3 {
				nextChange(t, s)
			}
			return s
		}
		s, bystander := watch(reader), watch(dan)
		const both, cems, bobs, none = `[{"text":"by cem"},{"text":"by bob"}]`, `[{"text":"by cem"}]`, `[{"text":"by bob"}]`, `[]`
		for i, step := range []struct {
			act         func()
			short, long string // the previews of the posts afterwards
		}{
			{on("muteUser", reader, "cem"), bobs, none},
			{on("unmuteUser", reader, "cem"), both, cems},
			{on("blockUser", reader, "cem"), bobs, none},
			{on("unblockUser", reader, "cem"), both, cems},
			{on("blockUser", cem, "reader"), bobs, none},
			{on("unblockUser", cem, "reader"), both, cems},
			{func() { reader.Mutate(t, "muteThread", "", map[string]any{"postId": post}) }, none, ""},
			{func() { reader.Mutate(t, "unmuteThread", "", map[string]any{"postId": post}) }, both, ""},
		} {
			step.act()
			wants := map[string]string{post: step.short}
			if step.long != "" {
				wants[long] = step.long
			}
			for len(wants) > 0 {
				got := nextChange(t, s)
				want, expected := wants[got.PostID]
				if !expected || got.Event != "CHANGED" || !strings.Contains(got.raw, `"latestComments":`+want+`}`) {
					t.Fatalf("step %d: got %s, want one of %v", i, got.raw, wants)
				}
				delete(wants, got.PostID)
			}
		}
		edit(t, ada, other, "edited")
		for name, socket := range map[string]*plazatest.Socket{"the reader": s, "a bystander": bystander} {
			if got := nextChange(t, socket); got.PostID != other || got.Post.Text != "edited" {
				t.Errorf("%s gets %s", name, got.raw)
			}
		}
	})
}

func setAudience(t *testing.T, kind string) func(ada plazatest.Person, post, circle, readerID string) {
	return func(ada plazatest.Person, post, _, _ string) {
		ada.Mutate(t, "setPostAudience", "", map[string]any{"postId": post, "audience": map[string]any{"kind": kind}})
	}
}

func onUser(t *testing.T, mutation string) func(ada plazatest.Person, post, circle, readerID string) {
	return func(ada plazatest.Person, _, _, readerID string) {
		ada.Mutate(t, mutation, "", map[string]any{"userId": readerID})
	}
}

func onMember(t *testing.T, mutation string) func(ada plazatest.Person, post, circle, readerID string) {
	return func(ada plazatest.Person, _, circle, readerID string) {
		ada.Mutate(t, mutation, "", map[string]any{"circleId": circle, "userId": readerID})
	}
}

// TestHiddenPostsDontChange: nothing arrives about posts that are hidden from the subscriber or do
// not exist. If the subscriber asks for the current state, both are removed in the same words.
func TestHiddenPostsDontChange(t *testing.T) {
	t.Parallel()
	plazatest.ForEachEngine(t, func(t *testing.T, e plazatest.Engine) {
		plaza := plazatest.Start(t, e)
		ada, bob := plaza.As(t, "ada"), plaza.As(t, "bob")
		hidden, missing := ada.Status(t, "hidden", map[string]any{"kind": "ONLY_ME"}), missingID("post")
		open := ada.Status(t, "0", plazatest.Public)
		silent, current := bob.Connect(t), bob.Connect(t)
		silent.Subscribe(plaza, "1", changesOf(false, hidden, missing, open))
		current.Subscribe(plaza, "1", changesOf(true, hidden, missing, open, hidden))
		var words []string
		for range 2 {
			got := nextChange(t, current)
			words = append(words, strings.ReplaceAll(got.raw, got.PostID, "ID"))
		}
		if words[0] != words[1] || !strings.Contains(words[0], "REMOVED") {
			t.Errorf("hidden and missing posts differ: %v", words)
		}
		if got := nextChange(t, current); got.PostID != open {
			t.Errorf("after the hidden ones, got %s", got.raw)
		}
		ada.Comment(t, hidden, "secret")
		ada.Mutate(t, "deletePost", "", map[string]any{"postId": hidden})
		edit(t, ada, open, "1")
		for _, s := range []*plazatest.Socket{silent, current} {
			if got := nextChange(t, s); got.PostID != open || got.Post.Text != "1" {
				t.Errorf("got %s, want the post that changed", got.raw)
			}
		}
	})
}

func edit(t *testing.T, p plazatest.Person, post, text string) {
	t.Helper()
	p.Mutate(t, "editPost", "", map[string]any{"postId": post, "content": map[string]any{"status": map[string]any{"text": text}}})
}

// TestManyChangesAreMerged: changes of a post that follow each other quickly may arrive as one.
// They never go back, and the last one arrives.
func TestManyChangesAreMerged(t *testing.T) {
	t.Parallel()
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		plaza := plazatest.Start(t, e)
		ada := plaza.As(t, "ada")
		post := ada.Status(t, "0", plazatest.Public)
		s := watchPost(t, plaza.As(t, "bob"), post)
		const edits = 23
		for n := range edits {
			edit(t, ada, post, strconv.Itoa(n+1))
		}
		last := 0
		for last < edits {
			n, err := strconv.Atoi(nextChange(t, s).Post.Text)
			if err != nil || n < last {
				t.Errorf("%d arrived after %d", n, last)
			}
			last = n
		}
	})
}

// TestBrokenStreamsOfChanges: posts that changed while the stream of events was broken arrive in
// their state afterwards.
func TestBrokenStreamsOfChanges(t *testing.T) {
	t.Parallel()
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		st := &fragileStore{Store: e.Open(t), forgets: true}
		plaza := plazatest.Serve(t, st)
		ada := plaza.As(t, "ada")
		posts := []string{ada.Status(t, "a", plazatest.Public), ada.Status(t, "b", plazatest.Public), ada.Status(t, "c", plazatest.Public)}
		s := plaza.As(t, "bob").Connect(t)
		s.Subscribe(plaza, "1", changesOf(true, posts...))
		for range posts {
			nextChange(t, s)
		}
		mend := st.breakAll()
		edit(t, ada, posts[0], "edited")
		ada.Mutate(t, "deletePost", "", map[string]any{"postId": posts[1]})
		mend()
		got := map[string]string{}
		for range posts {
			change := nextChange(t, s)
			got[change.PostID] = change.Event
			if change.PostID == posts[0] && change.Post.Text != "edited" {
				t.Errorf("got %s", change.raw)
			}
		}
		if got[posts[0]] != "CHANGED" || got[posts[1]] != "REMOVED" || got[posts[2]] != "CHANGED" {
			t.Errorf("got %v", got)
		}
	})
}

func TestBadInputOfPostChanged(t *testing.T) {
	t.Parallel()
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		plaza := plazatest.Start(t, e)
		s := plaza.As(t, "ada").Connect(t)
		operations := map[string]string{
			changesOf(false): "at least one post",
			changesOf(false, slices.Repeat([]string{missingID("post")}, 101)...): "At most 100",
		}
		for _, malformed := range malformedIDs("post") {
			if text, _ := malformed.value.(string); len(text) < 1_000 {
				operations[changesOf(true, missingID("post"), text)] = `"argument":"postIds.1"`
			}
		}
		id := 0
		for operation, want := range operations {
			id++
			s.Send(strconv.Itoa(id), "subscribe", map[string]string{"query": operation})
			if m := s.Next(); m.Type != "error" || !strings.Contains(string(m.Payload), want) || !strings.Contains(string(m.Payload), "BAD_USER_INPUT") {
				t.Errorf("%.200s: got %+v %s, want %s", operation, m, m.Payload, want)
			}
		}
		if open := plaza.Server.Hub.Subscriptions(); open != 0 {
			t.Errorf("%d subscriptions remain", open)
		}
	})
}
