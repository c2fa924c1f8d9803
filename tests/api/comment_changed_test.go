package api

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"testing"

	"plaza/internal/plazatest"
	"plaza/live"
	"plaza/social"
)

// commentChange is an item of commentChanged.
type commentChange struct {
	Event, CommentID string
	Comment          *struct {
		Text      *string
		IsDeleted bool
	}
}

func nextCommentChange(t *testing.T, s *plazatest.Socket) (change commentChange, raw string) {
	t.Helper()
	m := s.Next()
	var payload struct {
		Data struct{ CommentChanged *commentChange }
	}
	if m.Type != "next" || json.Unmarshal(m.Payload, &payload) != nil || payload.Data.CommentChanged == nil {
		t.Fatalf("want a change, got %+v %s", m, m.Payload)
	}
	return *payload.Data.CommentChanged, withoutCostOf(string(m.Payload))
}

// TestCommentChanges: edits and deletions arrive for users who see the comment or, once it is gone,
// could see it.
func TestCommentChanges(t *testing.T) {
	t.Parallel()
	plazatest.ForEachEngine(t, func(t *testing.T, e plazatest.Engine) {
		plaza := plazatest.Start(t, e)
		ada, bob, reader, blocker := plaza.As(t, "ada"), plaza.As(t, "bob"), plaza.As(t, "reader"), plaza.As(t, "blocker")
		blocker.Mutate(t, "blockUser", "", map[string]any{"userId": ada.IDOf(t, "bob")})
		post, other := ada.Status(t, "talk", plazatest.Public), ada.Status(t, "other", plazatest.Public)
		first, second, elsewhere := bob.Comment(t, post, "1"), bob.Comment(t, post, "2"), bob.Comment(t, other, "3")
		ada.Mutate(t, "addComment", "", map[string]any{"postId": post, "text": "reply", "parentId": second})
		sockets := map[string]*plazatest.Socket{"reader": reader.Connect(t), "": plazatest.Person{URL: ada.URL}.Connect(t), "blocker": blocker.Connect(t)}
		for _, s := range sockets {
			s.Subscribe(plaza, "1", `subscription { commentChanged(postId: "`+post+`") { event commentId comment { text isDeleted } } }`)
		}
		// sentinel edits a comment that everyone sees. It is the next item where nothing else
		// arrives.
		mark := ada.Comment(t, post, "mark")
		sentinel := func(text string, names ...string) {
			t.Helper()
			ada.Mutate(t, "editComment", "", map[string]any{"commentId": mark, "text": text})
			for _, name := range names {
				if got, raw := nextCommentChange(t, sockets[name]); got.CommentID != mark || *got.Comment.Text != text {
					t.Errorf("%q got %s instead of %q", name, raw, text)
				}
			}
		}
		sees := []string{"reader", ""}
		bob.Mutate(t, "editComment", "", map[string]any{"commentId": first, "text": "edited"})
		bob.Mutate(t, "editComment", "", map[string]any{"commentId": elsewhere, "text": "edited"})
		for _, name := range sees {
			if got, raw := nextCommentChange(t, sockets[name]); got.Event != "CHANGED" || got.CommentID != first || *got.Comment.Text != "edited" {
				t.Errorf("%q got %s", name, raw)
			}
		}
		sentinel("after the edit", "reader", "", "blocker")
		bob.DeleteComment(t, first)
		for _, name := range sees {
			want := fmt.Sprintf(`{"data":{"commentChanged":{"event":"REMOVED","commentId":%q,"comment":null}}`, first)
			if _, got := nextCommentChange(t, sockets[name]); got != want {
				t.Errorf("%q got %s, want %s", name, got, want)
			}
		}
		sentinel("after the deletion", "reader", "", "blocker")
		bob.DeleteComment(t, second)
		for name, s := range sockets { // everyone sees a tombstone
			if got, raw := nextCommentChange(t, s); got.Event != "CHANGED" || got.CommentID != second || !got.Comment.IsDeleted || got.Comment.Text != nil {
				t.Errorf("%q got %s", name, raw)
			}
		}
		own := ada.Connect(t)
		own.Subscribe(plaza, "1", `subscription { commentChanged(postId: "`+post+`") { event commentId comment { text isDeleted } } }`)
		setAudience(t, "ONLY_ME")(ada, post, "", "")
		ada.Mutate(t, "editComment", "", map[string]any{"commentId": mark, "text": "secret"})
		if got, raw := nextCommentChange(t, own); *got.Comment.Text != "secret" { // the hub has handled the event
			t.Errorf("the author got %s", raw)
		}
		ada.Mutate(t, "editComment", "", map[string]any{"commentId": mark, "text": "harmless"})
		setAudience(t, "PUBLIC")(ada, post, "", "")
		sentinel("open")
		for name, s := range sockets {
			for text := ""; text != "open"; {
				got, _ := nextCommentChange(t, s)
				if text = *got.Comment.Text; text != "open" && text != "harmless" { // which they may see by now
					t.Errorf("%q got %q", name, text)
				}
			}
		}
	})
}

// TestDeletedRepliesChangeTheCommentsAbove: subscribers learn of the tombstones that go with a reply,
// and of the new repliesCount above them, unless they may not see that comment.
func TestDeletedRepliesChangeTheCommentsAbove(t *testing.T) {
	t.Parallel()
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		plaza := plazatest.Start(t, e)
		ada, bob, reader, blocker := plaza.As(t, "ada"), plaza.As(t, "bob"), plaza.As(t, "reader"), plaza.As(t, "blocker")
		blocker.Mutate(t, "blockUser", "", map[string]any{"userId": ada.IDOf(t, "bob")})
		post := ada.Status(t, "talk", plazatest.Public)
		mark, root := ada.Comment(t, post, "mark"), bob.Comment(t, post, "root")
		reply := func(parent string) string {
			return ada.Mutate(t, "addComment", "comment { id }", map[string]any{"postId": post, "text": "reply", "parentId": parent})
		}
		upper := reply(root)
		leaf := reply(upper)
		sockets := map[string]*plazatest.Socket{"reader": reader.Connect(t), "blocker": blocker.Connect(t)}
		for _, s := range sockets {
			s.Subscribe(plaza, "1", `subscription { commentChanged(postId: "`+post+`") { event commentId comment { text repliesCount } } }`)
		}
		ada.DeleteComment(t, upper)
		for name, s := range sockets { // before the tombstone goes, too
			if got, raw := nextCommentChange(t, s); got.Event != "CHANGED" || got.CommentID != upper {
				t.Errorf("%q got %s", name, raw)
			}
		}
		ada.DeleteComment(t, leaf)
		ada.Mutate(t, "editComment", "", map[string]any{"commentId": mark, "text": "end"})
		change := func(event, id, comment string) string {
			return fmt.Sprintf(`{"data":{"commentChanged":{"event":%q,"commentId":%q,"comment":%s}}`, event, id, comment)
		}
		want := []string{change("REMOVED", leaf, "null"), change("REMOVED", upper, "null")}
		end := change("CHANGED", mark, `{"text":"end","repliesCount":0}`)
		for name, all := range map[string][]string{
			"reader":  append(slices.Clone(want), change("CHANGED", root, `{"text":"root","repliesCount":0}`), end),
			"blocker": append(slices.Clone(want), end),
		} {
			for _, one := range all {
				if _, got := nextCommentChange(t, sockets[name]); got != one {
					t.Errorf("%q got %s, want %s", name, got, one)
				}
			}
		}
	})
}

// TestTooManyCommentChanges: a slow subscriber gets a gap in place of more changes than a queue
// holds, and then later changes.
func TestTooManyCommentChanges(t *testing.T) {
	t.Parallel()
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		plaza := plazatest.Start(t, e)
		ada := plaza.As(t, "ada")
		post := ada.Status(t, "talk", plazatest.Public)
		id, err := social.ParsePostID(post)
		if err != nil {
			t.Fatal(err)
		}
		slow := &slowChanges{encoding: make(chan struct{}), goOn: make(chan struct{}), sent: make(chan live.Change, 4)}
		plaza.Server.Hub.CommentChanges(t.Context(), live.Subscriber{}, id, slow)
		fast := ada.Connect(t)
		fast.Subscribe(plaza, "1", `subscription { commentChanged(postId: "`+post+`") { event commentId comment { text isDeleted } } }`)
		change := func(text string) {
			comment := ada.Comment(t, post, "0")
			ada.Mutate(t, "editComment", "", map[string]any{"commentId": comment, "text": text})
			nextCommentChange(t, fast) // the hub has handled the event
		}
		for n := range live.BufferSize + 2 {
			change(strconv.Itoa(n))
		}
		<-slow.encoding
		close(slow.goOn)
		change("last")
		for _, want := range []live.Change{live.Changed, live.Gap, live.Changed} {
			if got := <-slow.sent; got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		}
	})
}

// slowChanges blocks while it handles the first item.
type slowChanges struct {
	unlimited

	encoding, goOn chan struct{}
	sent           chan live.Change
	begun          bool
}

func (r *slowChanges) Encoder() func(*live.Item) []byte { return r.encode }

func (r *slowChanges) encode(item *live.Item) []byte {
	if !r.begun {
		r.begun = true
		close(r.encoding)
		<-r.goOn
	}
	return []byte(item.Event)
}

func (r *slowChanges) Send(texts ...[]byte) {
	for _, text := range texts {
		r.sent <- live.Change(text)
	}
}

func (r *slowChanges) End(error) {}

// TestCommentsOfDeletedAccounts: open threads lose the comments of someone who deletes the account.
func TestCommentsOfDeletedAccounts(t *testing.T) {
	t.Parallel()
	plazatest.ForEachEngine(t, func(t *testing.T, e plazatest.Engine) {
		plaza := plazatest.Start(t, e)
		ada, bob := plaza.As(t, "ada"), plaza.As(t, "bob")
		post := ada.Status(t, "talk", plazatest.Public)
		gone := map[string]bool{bob.Comment(t, post, "1"): true, bob.Comment(t, post, "2"): true, bob.Comment(t, post, "3"): true}
		socket := ada.Connect(t)
		socket.Subscribe(plaza, "1", `subscription { commentChanged(postId: "`+post+`") { event commentId comment { text isDeleted } } }`)
		bob.Mutate(t, "deleteAccount", "", map[string]any{"password": "password of bob"})
		for len(gone) > 0 {
			got, raw := nextCommentChange(t, socket)
			if got.Event != "REMOVED" || !gone[got.CommentID] {
				t.Fatalf("got %s, want one of %v", raw, gone)
			}
			delete(gone, got.CommentID)
		}
	})
}
