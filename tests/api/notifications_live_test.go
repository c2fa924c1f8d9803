package api

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"plaza/internal/plazatest"
)

// notified is an item of notificationAdded.
type notified struct {
	Cursor, Event string
	Notification  struct {
		ID, Kind string
		Actors   []struct{ Handle string }
		Post     *struct{ ID string }
	}
	Viewer struct{ UnreadNotificationsCount int }
}

func (n *notified) String() string {
	var actors []string
	for _, a := range n.Notification.Actors {
		actors = append(actors, a.Handle)
	}
	return fmt.Sprintf("%s %s by %s, %d unread", n.Event, n.Notification.Kind, strings.Join(actors, " and "), n.Viewer.UnreadNotificationsCount)
}

func notificationsAfter(cursor string) string {
	after := ""
	if cursor != "" {
		after = fmt.Sprintf("(after: %q)", cursor)
	}
	return `subscription { notificationAdded` + after + ` { cursor event notification { id kind actors { handle } post { id } } viewer { unreadNotificationsCount } } }`
}

// wantNotified waits for items, and returns the last one.
func wantNotified(t *testing.T, s *plazatest.Socket, wants ...string) (last notified) {
	t.Helper()
	for _, want := range wants {
		m := s.Next()
		var payload struct {
			Data struct{ NotificationAdded notified }
		}
		if m.Type != "next" || json.Unmarshal(m.Payload, &payload) != nil {
			t.Fatalf("want %q, got %+v %s", want, m, m.Payload)
		}
		last = payload.Data.NotificationAdded
		if last.String() != want || last.Cursor == "" {
			t.Errorf("got %q, want %q, cursor %q", last.String(), want, last.Cursor)
		}
	}
	return last
}

// TestNotificationsArriveLive follows one user's notifications: live, after a cursor, and while
// something is hidden from the user.
func TestNotificationsArriveLive(t *testing.T) {
	t.Parallel()
	plazatest.ForEachEngine(t, func(t *testing.T, e plazatest.Engine) {
		plaza := plazatest.Start(t, e)
		ada, ben, cem, dan := plaza.As(t, "ada"), plaza.As(t, "ben"), plaza.As(t, "cem"), plaza.As(t, "dan")
		plaza.Notify(t)
		socket := ada.Connect(t)
		socket.Subscribe(plaza, "1", notificationsAfter(""))

		ben.Follow(t, "ada")
		first := wantNotified(t, socket, "ADDED FOLLOW by ben, 1 unread")
		cem.Follow(t, "ada")
		second := wantNotified(t, socket, "CHANGED FOLLOW by cem and ben, 1 unread")
		if first.Notification.ID != second.Notification.ID {
			t.Error("two follows are two notifications")
		}
		post := ada.Status(t, "hello", plazatest.Public)
		ben.Comment(t, post, "first")
		third := wantNotified(t, socket, "ADDED COMMENT by ben, 2 unread")
		if third.Notification.Post == nil || third.Notification.Post.ID != post {
			t.Errorf("the post is %+v, want %s", third.Notification.Post, post)
		}
		ada.Mutate(t, "muteUser", "", map[string]any{"userId": ada.IDOf(t, "dan")})
		dan.Comment(t, post, "muted")
		plaza.Notify(t)
		cem.Comment(t, post, "second")
		wantNotified(t, socket, "CHANGED COMMENT by cem and ben, 2 unread")

		resumed := func(after notified, wants ...string) {
			t.Helper()
			s := ada.Connect(t)
			s.Send("1", "subscribe", map[string]string{"query": notificationsAfter(after.Cursor)})
			wantNotified(t, s, wants...)
			_ = s.Conn.Close()
		}
		resumed(first, "CHANGED FOLLOW by cem and ben, 2 unread", "ADDED COMMENT by cem and ben, 2 unread")
		resumed(third, "CHANGED COMMENT by cem and ben, 2 unread")
		ada.Mutate(t, "blockUser", "", map[string]any{"userId": ada.IDOf(t, "cem")})
		resumed(first, "ADDED COMMENT by ben, 2 unread")
		ada.Mutate(t, "markNotificationsRead", "", map[string]any{"upTo": third.Cursor})
		ben.Mutate(t, "addReaction", "", map[string]any{"postId": post, "kind": "LIKE"})
		wantNotified(t, socket, "ADDED REACTION by ben, 2 unread")
	})
}

// TestNotificationsAreForOneUser checks who may follow notifications, and with which cursors.
func TestNotificationsAreForOneUser(t *testing.T) {
	t.Parallel()
	plaza := plazatest.Start(t, plazatest.Engines[0])
	ada, ben := plaza.As(t, "ada"), plaza.As(t, "ben")
	plaza.Notify(t)
	ben.Follow(t, "ada")
	plaza.Notify(t)
	ben.Status(t, "for the wall", plazatest.Public)
	for code, refused := range map[string]struct {
		who   plazatest.Person
		after string
	}{
		"UNAUTHENTICATED": {plazatest.Person{URL: plaza.URL}, ""},
		"BAD_USER_INPUT":  {ben, notificationCursor(t, ada)},
		"BAD_USER_INPUT ": {ada, wallCursor(t, ada, "ben")},
		" BAD_USER_INPUT": {ada, "x"},
	} {
		s := refused.who.Connect(t)
		s.Send("1", "subscribe", map[string]string{"query": notificationsAfter(refused.after)})
		if m := s.Next(); m.Type != "error" || !strings.Contains(string(m.Payload), strings.TrimSpace(code)) {
			t.Errorf("after %q: got %+v %s, want %s", refused.after, m, m.Payload, code)
		}
	}
}

// notificationCursor returns the cursor of a user's newest notification.
func notificationCursor(t *testing.T, p plazatest.Person) string {
	t.Helper()
	var answer struct {
		Viewer struct {
			Notifications struct{ PageInfo struct{ StartCursor string } }
		}
	}
	p.Do(t, `{ viewer { notifications(first: 1) { pageInfo { startCursor } } } }`, nil, &answer)
	return answer.Viewer.Notifications.PageInfo.StartCursor
}
