package api

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"plaza/internal/plazatest"
)

// nextPost waits for the next item of incomingAdded or wallPostAdded.
func nextPost(t *testing.T, s *plazatest.Socket) liveItem {
	t.Helper()
	type content struct {
		Cursor, Event string
		Post          struct{ Text string }
	}
	m := s.Next()
	var payload struct {
		Data struct{ IncomingAdded, WallPostAdded content }
	}
	if m.Type != "next" || json.Unmarshal(m.Payload, &payload) != nil {
		t.Fatalf("want an item, got %+v %s", m, m.Payload)
	}
	in, wall := payload.Data.IncomingAdded, payload.Data.WallPostAdded
	return liveItem{in.Cursor + wall.Cursor, in.Event + wall.Event, in.Post.Text + wall.Post.Text}
}

// wantPosts waits for posts with these texts, and returns the cursor of the last one.
func wantPosts(t *testing.T, who string, s *plazatest.Socket, texts ...string) (cursor string) {
	t.Helper()
	for _, want := range texts {
		got := nextPost(t, s)
		if got.Text != want || got.Event != "ADDED" || got.Cursor == "" {
			t.Errorf("%s: got %+v, want %q", who, got, want)
		}
		cursor = got.Cursor
	}
	return cursor
}

func wallAfter(user, cursor string) string {
	after := ""
	if cursor != "" {
		after = fmt.Sprintf(", after: %q", cursor)
	}
	return fmt.Sprintf(`subscription { wallPostAdded(userId: %q%s) { cursor event post { text } } }`, user, after)
}

func incomingAfter(cursor string) string {
	after := ""
	if cursor != "" {
		after = fmt.Sprintf("(after: %q)", cursor)
	}
	return fmt.Sprintf(`subscription { incomingAdded%s { cursor event post { text } } }`, after)
}

// TestListsArriveLive compares the items of a wall and of incoming that arrive live with the lists
// themselves, for people with different rights, live and after a cursor.
func TestListsArriveLive(t *testing.T) {
	t.Parallel()
	plazatest.ForEachEngine(t, func(t *testing.T, e plazatest.Engine) {
		plaza := plazatest.Start(t, e)
		owner := plaza.As(t, "olive")
		people := map[string]plazatest.Person{"": {URL: plaza.URL}, "olive": owner}
		for _, name := range []string{"friend", "muting", "writer", "blocked", "stranger"} {
			people[name] = plaza.As(t, name)
		}
		wall := owner.IDOf(t, "olive")
		for _, name := range []string{"friend", "muting"} {
			people["writer"].Follow(t, name)
		}
		people["muting"].Mutate(t, "muteUser", "", map[string]any{"userId": owner.IDOf(t, "writer")})
		people["blocked"].Mutate(t, "blockUser", "", map[string]any{"userId": owner.IDOf(t, "writer")})
		write := func(p plazatest.Person, text, kind, on string) string {
			t.Helper()
			input := map[string]any{"content": map[string]any{"status": map[string]any{"text": text}}, "audience": map[string]any{"kind": kind}}
			if on != "" {
				input["wallOwnerId"] = on
			}
			return p.Mutate(t, "createPost", "post { id }", input)
		}
		refused := people["blocked"].Connect(t)
		for id, user := range map[string]string{"hidden": owner.IDOf(t, "writer"), "missing": missingID("user")} {
			refused.Send(id, "subscribe", map[string]string{"query": wallAfter(user, "")})
			if m := refused.Next(); m.Type != "error" || !strings.Contains(string(m.Payload), "NOT_FOUND") {
				t.Errorf("the wall of a %s user: got %+v %s", id, m, m.Payload)
			}
		}
		write(owner, "0", "PUBLIC", "") // subscriptions that come later begin at its cursors
		write(people["writer"], "0", "PUBLIC", wall)
		write(owner, "0 for the writer", "PUBLIC", owner.IDOf(t, "writer"))
		ready := people["stranger"].Connect(t)
		ready.Subscribe(plaza, "1", plazatest.NewsSubscription)
		people["stranger"].Status(t, "ready", plazatest.Public)
		if got := ready.TextOf(ready.Next()); got != "ready" { // the hub has handled the earlier events
			t.Errorf("got %q", got)
		}
		onWall, incoming, first := map[string]*plazatest.Socket{}, map[string]*plazatest.Socket{}, map[string]string{}
		for name, p := range people {
			onWall[name] = p.Connect(t)
			onWall[name].Subscribe(plaza, "1", wallAfter(wall, ""))
			first[name] = wallCursor(t, p, "olive")
			if name != "" {
				incoming[name] = p.Connect(t)
				incoming[name].Subscribe(plaza, "1", incomingAfter(""))
			}
		}
		writer := people["writer"]
		gone := write(writer, "deleted", "PUBLIC", wall)
		for _, name := range []string{"", "olive", "friend", "muting", "writer", "stranger"} {
			wantPosts(t, name, onWall[name], "deleted")
		}
		wantPosts(t, "olive", incoming["olive"], "deleted")
		writer.Mutate(t, "deletePost", "", map[string]any{"postId": gone})
		write(writer, "for circles", "CIRCLES", wall)
		write(writer, "secret", "ONLY_ME", "")
		write(writer, "elsewhere", "CIRCLES", "")
		write(writer, "for all", "PUBLIC", wall)
		write(owner, "own", "PUBLIC", "")
		write(owner, "for friends", "CIRCLES", "")
		wants := map[string][]string{
			"": {"for all", "own"}, "stranger": {"for all", "own"}, "blocked": {"own"}, "friend": {"for circles", "for all", "own"},
			"muting": {"for circles", "for all", "own"}, "writer": {"for circles", "for all", "own"}, "olive": {"for circles", "for all", "own", "for friends"},
		}
		write(owner, "end", "PUBLIC", "")
		for name, want := range wants {
			wantPosts(t, name, onWall[name], append(want, "end")...)
			later := people[name].Connect(t)
			later.Send("1", "subscribe", map[string]string{"query": wallAfter(wall, first[name])})
			last := wantPosts(t, name+" later", later, append(want, "end")...)
			if last != wallCursor(t, people[name], "olive") {
				t.Errorf("%s: an item has another cursor than its entry in the list", name)
			}
		}
		write(people["stranger"], "end", "PUBLIC", owner.IDOf(t, "friend"))
		cursor := wantPosts(t, "friend", incoming["friend"], "for circles")
		wantPosts(t, "friend", incoming["friend"], "elsewhere", "end")
		wantPosts(t, "olive", incoming["olive"], "for circles", "for all")
		later := people["friend"].Connect(t)
		later.Send("1", "subscribe", map[string]string{"query": incomingAfter(cursor)})
		wantPosts(t, "friend later", later, "elsewhere", "end")
		for _, name := range []string{"muting", "writer", "blocked", "stranger"} { // nothing has arrived
			write(people["olive"], "end", "PUBLIC", owner.IDOf(t, name))
			wantPosts(t, name, incoming[name], "end")
		}
	})
}

// wallCursor returns the cursor of the newest post on a wall.
func wallCursor(t *testing.T, p plazatest.Person, handle string) string {
	t.Helper()
	var answer struct {
		User struct {
			Wall struct{ PageInfo struct{ StartCursor string } }
		}
	}
	p.Do(t, fmt.Sprintf(`{ user(handle: %q) { wall(first: 1) { pageInfo { startCursor } } } }`, handle), nil, &answer)
	return answer.User.Wall.PageInfo.StartCursor
}
