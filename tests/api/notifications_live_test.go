package api

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"plaza/internal/plazatest"
	"plaza/social"
)

// notified is an item of notificationAdded.
type notified struct {
	Cursor, Event, NotificationID string
	IsInFront                     bool
	Notification                  *struct {
		ID, Kind string
		Actors   []struct{ Handle string }
		Post     *struct{ ID string }
		Comment  *struct{ ID string }
	}
	Viewer struct{ UnreadNotificationsCount int }
}

func (n *notified) String() string {
	if n.Notification == nil {
		return fmt.Sprintf("%s, %d unread", n.Event, n.Viewer.UnreadNotificationsCount)
	}
	var actors []string
	for _, a := range n.Notification.Actors {
		actors = append(actors, a.Handle)
	}
	where := ""
	if n.Event == "CHANGED" && !n.IsInFront {
		where = " in its place"
	}
	return fmt.Sprintf("%s%s %s by %s, %d unread", n.Event, where, n.Notification.Kind, strings.Join(actors, " and "), n.Viewer.UnreadNotificationsCount)
}

func notificationsAfter(cursor string) string {
	after := ""
	if cursor != "" {
		after = fmt.Sprintf("(after: %q)", cursor)
	}
	return `subscription { notificationAdded` + after + ` {
		cursor event notificationId isInFront notification { id kind actors { handle } post { id } comment { id } } viewer { unreadNotificationsCount } } }`
}

// followNotifications subscribes a person to new notifications.
func followNotifications(t *testing.T, plaza *plazatest.Plaza, p plazatest.Person) *plazatest.Socket {
	t.Helper()
	s := p.Connect(t)
	s.Subscribe(plaza, "1", notificationsAfter(""))
	return s
}

// resumeNotifications subscribes a person to the notifications after a cursor.
func resumeNotifications(t *testing.T, p plazatest.Person, cursor string) *plazatest.Socket {
	t.Helper()
	s := p.Connect(t)
	s.Send("1", "subscribe", map[string]string{"query": notificationsAfter(cursor)})
	return s
}

// nextNotified waits for an item.
func nextNotified(t *testing.T, s *plazatest.Socket) notified {
	t.Helper()
	m := s.Next()
	var payload struct {
		Data struct{ NotificationAdded notified }
	}
	if m.Type != "next" || json.Unmarshal(m.Payload, &payload) != nil {
		t.Fatalf("want an item, got %+v %s", m, m.Payload)
	}
	return payload.Data.NotificationAdded
}

// postOnWall writes a post on another person's wall, for a kind of audience.
func postOnWall(t *testing.T, by plazatest.Person, owner, kind string) string {
	t.Helper()
	return by.Mutate(t, "createPost", "post { id }", map[string]any{
		"content": map[string]any{"status": map[string]any{"text": "hi"}}, "audience": map[string]any{"kind": kind}, "wallOwnerId": by.IDOf(t, owner),
	})
}

// wantNotified waits for items, and returns the last one.
func wantNotified(t *testing.T, s *plazatest.Socket, wants ...string) (last notified) {
	t.Helper()
	for _, want := range wants {
		last = nextNotified(t, s)
		if last.String() != want || last.Cursor == "" {
			t.Errorf("got %q, want %q, cursor %q", last.String(), want, last.Cursor)
		}
		moves := last.Event == "ADDED" || strings.HasPrefix(want, "CHANGED") && !strings.Contains(want, "in its place")
		if last.Notification != nil && last.Notification.ID != last.NotificationID || last.IsInFront != moves {
			t.Errorf("%q: got the id %q, in front: %v", want, last.NotificationID, last.IsInFront)
		}
	}
	return last
}

// TestNotificationsArriveLive follows one user's notifications: live, after a cursor, and while
// something is hidden from the user.
func TestNotificationsArriveLive(t *testing.T) {
	t.Parallel()
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		plaza := plazatest.Start(t, e)
		ada, ben, cem, dan := plaza.As(t, "ada"), plaza.As(t, "ben"), plaza.As(t, "cem"), plaza.As(t, "dan")
		plaza.Notify(t)
		socket := followNotifications(t, plaza, ada)

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
			s := resumeNotifications(t, ada, after.Cursor)
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

// TestLossesArriveLive: a notification whose comments are deleted, or whose reactions are taken back,
// changes and disappears live, and for those who resume.
func TestLossesArriveLive(t *testing.T) {
	t.Parallel()
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		plaza := plazatest.Start(t, e)
		ada, ben, cem := plaza.As(t, "ada"), plaza.As(t, "ben"), plaza.As(t, "cem")
		plaza.Notify(t)
		socket := followNotifications(t, plaza, ada)
		ben.Follow(t, "ada")
		start := wantNotified(t, socket, "ADDED FOLLOW by ben, 1 unread")

		post := ada.Status(t, "hello", plazatest.Public)
		bens := ben.Comment(t, post, "first")
		first := wantNotified(t, socket, "ADDED COMMENT by ben, 2 unread")
		cems := cem.Comment(t, post, "second")
		wantNotified(t, socket, "CHANGED COMMENT by cem and ben, 2 unread")
		cem.Follow(t, "ada")
		front := wantNotified(t, socket, "CHANGED FOLLOW by cem and ben, 2 unread")
		cem.DeleteComment(t, cems)
		changed := wantNotified(t, socket, "CHANGED in its place COMMENT by ben, 2 unread")
		if got := notificationCursor(t, ada); got != front.Cursor {
			t.Error("another notification is in front after a deletion")
		}
		ada.Mutate(t, "markNotificationsRead", "", map[string]any{"upTo": changed.Cursor})
		ben.DeleteComment(t, bens)
		removed := wantNotified(t, socket, "REMOVED, 0 unread")
		if removed.NotificationID != first.NotificationID || changed.NotificationID != first.NotificationID {
			t.Errorf("%s and %s changed, want %s", changed.NotificationID, removed.NotificationID, first.NotificationID)
		}
		ben.Mutate(t, "addReaction", "", map[string]any{"postId": post, "kind": "LIKE"})
		reacted := wantNotified(t, socket, "ADDED REACTION by ben, 1 unread")
		ben.Mutate(t, "removeReaction", "", map[string]any{"postId": post})
		last := wantNotified(t, socket, "REMOVED, 0 unread")
		if last.NotificationID != reacted.NotificationID {
			t.Errorf("%s is gone, want %s", last.NotificationID, reacted.NotificationID)
		}

		resumed := func(after notified, wants ...string) {
			t.Helper()
			s := resumeNotifications(t, ada, after.Cursor)
			wantNotified(t, s, append(wants, "ADDED WALL_POST by cem, 1 unread")...)
			_ = s.Conn.Close()
		}
		fresh := followNotifications(t, plaza, ada)
		postOnWall(t, cem, "ada", "PUBLIC")
		wantNotified(t, socket, "ADDED WALL_POST by cem, 1 unread")
		wantNotified(t, fresh, "ADDED WALL_POST by cem, 1 unread")
		resumed(start, "CHANGED FOLLOW by cem and ben, 1 unread")
		resumed(first, "CHANGED FOLLOW by cem and ben, 1 unread", "REMOVED, 1 unread")
		resumed(changed, "REMOVED, 1 unread")
		resumed(removed)
		resumed(reacted, "REMOVED, 1 unread")
		resumed(last)
	})
}

// TestEarlierCommentsStayNotified: a notification stays while one of a person's comments is left: live,
// after a resume, and in the list, whichever of the others are deleted or hidden by moderators.
func TestEarlierCommentsStayNotified(t *testing.T) {
	t.Parallel()
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		plaza := plazatest.Start(t, e)
		ada, ben, cem, mia := plaza.As(t, "ada"), plaza.As(t, "ben"), plaza.As(t, "cem"), plaza.As(t, "mia")
		plazatest.Grant(t, plaza, "GRANT: moderate mia")
		plaza.Notify(t)
		socket := followNotifications(t, plaza, ada)
		post := ada.Status(t, "hello", plazatest.Public)
		comment := func(by plazatest.Person, text, want string) (string, notified) {
			t.Helper()
			id := by.Comment(t, post, text)
			got := wantNotified(t, socket, want)
			wantComment(t, got, id)
			return id, got
		}
		first, start := comment(ben, "first", "ADDED COMMENT by ben, 1 unread")
		second, _ := comment(ben, "second", "CHANGED COMMENT by ben, 1 unread")
		third, _ := comment(ben, "third", "CHANGED COMMENT by ben, 1 unread")
		cems, _ := comment(cem, "fourth", "CHANGED COMMENT by cem and ben, 1 unread")

		ben.DeleteComment(t, third)
		wantComment(t, wantNotified(t, socket, "CHANGED in its place COMMENT by cem and ben, 1 unread"), cems)
		cem.DeleteComment(t, cems)
		wantComment(t, wantNotified(t, socket, "CHANGED in its place COMMENT by ben, 1 unread"), second)
		fifth, _ := comment(ben, "fifth", "CHANGED COMMENT by ben, 1 unread")
		reportAbuse(t, ada, fifth)
		decide(t, mia, fifth, "HIDE")
		wantComment(t, wantNotified(t, socket, "CHANGED in its place COMMENT by ben, 1 unread"), second)
		ben.DeleteComment(t, second)
		left := wantNotified(t, socket, "CHANGED in its place COMMENT by ben, 1 unread")
		wantComment(t, left, first)
		wantListed(t, ada, first)
		decide(t, mia, fifth, "RESTORE")
		wantListed(t, ada, fifth)
		ben.DeleteComment(t, first)
		wantComment(t, wantNotified(t, socket, "CHANGED in its place COMMENT by ben, 1 unread"), fifth)
		wantListed(t, ada, fifth)

		s := resumeNotifications(t, ada, start.Cursor)
		wantComment(t, wantNotified(t, s, "CHANGED COMMENT by ben, 1 unread", "CHANGED in its place COMMENT by ben, 1 unread"), fifth)
		ben.DeleteComment(t, fifth)
		wantNotified(t, s, "REMOVED, 0 unread")
		if gone := wantNotified(t, socket, "REMOVED, 0 unread"); gone.NotificationID != left.NotificationID {
			t.Errorf("%s is gone, want %s", gone.NotificationID, left.NotificationID)
		}
		wantListed(t, ada)
	})
}

// wantComment checks which comment a notification names.
func wantComment(t *testing.T, n notified, want string) {
	t.Helper()
	if n.Notification == nil || n.Notification.Comment == nil || n.Notification.Comment.ID != want {
		t.Errorf("%s: it names %+v, want %s", n.String(), n.Notification, want)
	}
}

// wantListed checks which comments the list of notifications names, each as one act.
func wantListed(t *testing.T, p plazatest.Person, want ...string) {
	t.Helper()
	var answer struct {
		Viewer struct {
			Notifications struct {
				Nodes []struct {
					ActorsCount int
					Comment     struct{ ID string }
				}
			}
		}
	}
	p.Do(t, `{ viewer { notifications { nodes { actorsCount comment { id } } } } }`, nil, &answer)
	var got []string
	for _, n := range answer.Viewer.Notifications.Nodes {
		got = append(got, n.Comment.ID)
		if n.ActorsCount != 1 {
			t.Errorf("%d people are counted, want 1", n.ActorsCount)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("the list names %v, want %v", got, want)
	}
}

// TestDeletedPostsLeaveNotifications: the notifications about a post disappear with it, live, for those
// who resume and in the list, and only if their recipient saw the post until then.
func TestDeletedPostsLeaveNotifications(t *testing.T) {
	t.Parallel()
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		plaza := plazatest.Start(t, e)
		ada, ben, cem := plaza.As(t, "ada"), plaza.As(t, "ben"), plaza.As(t, "cem")
		plaza.Notify(t)
		socket := followNotifications(t, plaza, ada)
		deletePost := func(by plazatest.Person, post string) {
			by.Mutate(t, "deletePost", "", map[string]any{"postId": post})
		}

		mine := ada.Status(t, "mine", plazatest.Public)
		ben.Comment(t, mine, "first")
		comment := wantNotified(t, socket, "ADDED COMMENT by ben, 1 unread")
		ben.Mutate(t, "addReaction", "", map[string]any{"postId": mine, "kind": "LIKE"})
		reaction := wantNotified(t, socket, "ADDED REACTION by ben, 2 unread")
		bens := postOnWall(t, ben, "ada", "ONLY_ME")
		wall := wantNotified(t, socket, "ADDED WALL_POST by ben, 3 unread")
		public := cem.Status(t, "hello @ada", plazatest.Public)
		mention := wantNotified(t, socket, "ADDED MENTION by cem, 4 unread")
		narrowed := cem.Status(t, "goodbye @ada", plazatest.Public)
		wantNotified(t, socket, "ADDED MENTION by cem, 5 unread")
		cem.Mutate(t, "setPostAudience", "", map[string]any{"postId": narrowed, "audience": map[string]any{"kind": "CIRCLES"}})

		deletePost(cem, narrowed) // ada does not see it: silence
		deletePost(cem, public)
		gone := wantNotified(t, socket, "REMOVED, 3 unread")
		deletePost(ada, bens)
		off := wantNotified(t, socket, "REMOVED, 2 unread")
		if gone.NotificationID != mention.NotificationID || off.NotificationID != wall.NotificationID {
			t.Errorf("%s and %s are gone, want %s and %s", gone.NotificationID, off.NotificationID, mention.NotificationID, wall.NotificationID)
		}
		deletePost(ada, mine)
		removed := map[string]bool{}
		for range 2 {
			removed[wantNotified(t, socket, "REMOVED, 0 unread").NotificationID] = true
		}
		if !removed[comment.NotificationID] || !removed[reaction.NotificationID] {
			t.Errorf("%v are gone, want %s and %s", removed, comment.NotificationID, reaction.NotificationID)
		}

		s := resumeNotifications(t, ada, mention.Cursor)
		for range 4 {
			wantNotified(t, s, "REMOVED, 0 unread")
		}
		ben.Follow(t, "ada")
		wantNotified(t, socket, "ADDED FOLLOW by ben, 1 unread")
		wantNotified(t, s, "ADDED FOLLOW by ben, 1 unread")
	})
}

// TestLostActsMoveNotifications: a notification that got an act and lost it again is in front for those
// who resume, too, because it stays there in the list.
func TestLostActsMoveNotifications(t *testing.T) {
	t.Parallel()
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		plaza := plazatest.Start(t, e)
		ada, ben, cem, dan := plaza.As(t, "ada"), plaza.As(t, "ben"), plaza.As(t, "cem"), plaza.As(t, "dan")
		plaza.Notify(t)
		socket := followNotifications(t, plaza, ada)
		post := ada.Status(t, "hello", plazatest.Public)
		ben.Comment(t, post, "first")
		commented := wantNotified(t, socket, "ADDED COMMENT by ben, 1 unread")
		ben.Follow(t, "ada")
		followed := wantNotified(t, socket, "ADDED FOLLOW by ben, 2 unread")
		cems := cem.Comment(t, post, "second")
		got := wantNotified(t, socket, "CHANGED COMMENT by cem and ben, 2 unread")
		cem.DeleteComment(t, cems)
		wantNotified(t, socket, "CHANGED in its place COMMENT by ben, 2 unread")
		inFront := notificationCursor(t, ada)

		s := resumeNotifications(t, ada, followed.Cursor)
		moved := wantNotified(t, s, "CHANGED COMMENT by ben, 2 unread")
		if moved.NotificationID != commented.NotificationID || moved.Cursor != inFront || inFront != got.Cursor {
			t.Errorf("%s moved to %s, want %s at %s", moved.NotificationID, moved.Cursor, commented.NotificationID, inFront)
		}
		lost := wantNotified(t, s, "CHANGED in its place COMMENT by ben, 2 unread")

		dan.Comment(t, post, "third")
		wantNotified(t, s, "CHANGED COMMENT by dan and ben, 2 unread")
		ada.Mutate(t, "muteUser", "", map[string]any{"userId": ada.IDOf(t, "dan")})
		silent := resumeNotifications(t, ada, lost.Cursor)
		cem.Follow(t, "ada")
		wantNotified(t, silent, "CHANGED FOLLOW by cem and ben, 2 unread")
	})
}

// TestLossesRevealNothing: nothing arrives when something is deleted that the recipient of its
// notification does not see, or never saw.
func TestLossesRevealNothing(t *testing.T) {
	t.Parallel()
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		plaza := plazatest.Start(t, e)
		ada, ben, cem, dan, eve := plaza.As(t, "ada"), plaza.As(t, "ben"), plaza.As(t, "cem"), plaza.As(t, "dan"), plaza.As(t, "eve")
		plaza.Notify(t)
		socket := followNotifications(t, plaza, ada)
		mine, quiet, evens := ada.Status(t, "mine", plazatest.Public), ada.Status(t, "quiet", plazatest.Public), eve.Status(t, "eve's", plazatest.Public)
		comments := map[plazatest.Person]string{}
		for i, c := range []struct {
			by   plazatest.Person
			on   string
			kind string
			name string
		}{{ben, mine, "COMMENT", "ben"}, {cem, quiet, "COMMENT", "cem"}, {dan, evens, "MENTION", "dan"}} {
			comments[c.by] = c.by.Comment(t, c.on, "@ada hi")
			wantNotified(t, socket, fmt.Sprintf("ADDED %s by %s, %d unread", c.kind, c.name, i+1))
		}
		ada.Mutate(t, "muteUser", "", map[string]any{"userId": ada.IDOf(t, "ben")})
		ada.Mutate(t, "muteThread", "", map[string]any{"postId": quiet})
		eve.Follow(t, "dan")
		eve.Mutate(t, "setPostAudience", "", map[string]any{"postId": evens, "audience": map[string]any{"kind": "CIRCLES"}})
		for by, comment := range comments {
			by.DeleteComment(t, comment)
		}
		plaza.Notify(t)
		eve.Follow(t, "ada")
		wantNotified(t, socket, "ADDED FOLLOW by eve, 1 unread")
	})
}

// TestManyLossesArrive: a client that resumes gets the losses of all notifications that it knows,
// each once, although they are on several pages. On the first page are no others; on later ones there may be.
func TestManyLossesArrive(t *testing.T) {
	t.Parallel()
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		plaza := plazatest.Start(t, e)
		ada := plaza.As(t, "ada")
		plaza.As(t, "ben")
		const all, page = 120, 32 // the first page of a subscription that catches up
		stored := newLostReactions(t, plaza, ada, all)
		for known, most := range map[int]int{all: all, 70: 70 + all - page, 1: 1 + all - page} { // the last ones: stored is newest first
			s := resumeNotifications(t, ada, stored.cursors[all-known])
			gone := map[string]bool{}
			item := nextNotified(t, s)
			for ; item.Event == "REMOVED"; item = nextNotified(t, s) {
				if gone[item.NotificationID] {
					t.Errorf("%s arrives twice", item.NotificationID)
				}
				gone[item.NotificationID] = true
			}
			if want := "ADDED WALL_POST by ben, 1 unread"; item.String() != want || len(gone) > most {
				t.Errorf("%d known: got %q after %d items, want %q after at most %d", known, item.String(), len(gone), want, most)
			}
			for _, n := range stored.ids[all-known:] {
				if !gone[n] {
					t.Errorf("%d known: %s is not gone", known, n)
				}
			}
			_ = s.Conn.Close()
		}
	})
}

// lostReactions are notifications of one reaction, newest first, which was then taken back.
type lostReactions struct{ ids, cursors []string }

// newLostReactions notifies a person of reactions, each of which they read, and then of the end of all
// of them and of a post on their wall.
func newLostReactions(t *testing.T, plaza *plazatest.Plaza, to plazatest.Person, count int) (made lostReactions) {
	t.Helper()
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	post, err := social.ParsePostID(to.Status(t, "hello", plazatest.Public))
	must(err)
	recipient, err := social.ParseUserID(to.IDOf(t, "ada"))
	must(err)
	actor, err := social.ParseUserID(to.IDOf(t, "ben"))
	must(err)
	group := social.NotificationGroup{To: recipient, Kind: social.NotifyReaction, Post: post}
	reaction := social.Notice{NotificationGroup: group, Act: social.Act{Actor: actor}}
	_, _, err = plaza.Store.LeaseNotifier(t.Context(), "test", time.Hour)
	must(err)
	for range count {
		must(plaza.Store.Notify(t.Context(), "test", time.Hour, "1", []social.Notice{reaction}))
		newest, err := plaza.Store.Notifications(t.Context(), group.To, social.Page{Limit: 1})
		must(err)
		must(plaza.Store.MarkRead(t.Context(), group.To, nil, newest[0].Order))
		made.ids = append([]string{newest[0].ID.String()}, made.ids...)
		made.cursors = append([]string{notificationCursor(t, to)}, made.cursors...)
	}
	reaction.Undone, reaction.Lost = true, true
	onWall := social.Notice{NotificationGroup: group, Act: reaction.Act}
	onWall.Kind = social.NotifyWallPost
	must(plaza.Store.Notify(t.Context(), "test", time.Hour, "1", []social.Notice{reaction}))
	must(plaza.Store.Notify(t.Context(), "test", time.Hour, "1", []social.Notice{onWall}))
	return made
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
