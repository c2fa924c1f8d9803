package api

import (
	"slices"
	"testing"
	"time"

	"plaza/id"
	"plaza/internal/plazatest"
	"plaza/internal/testtime"
	"plaza/social"
)

// TestPollsThatCloseNotify: the author of a poll is notified when it closes, and those voters who
// may still see it, do not mute it and have not turned that off. A deleted poll sends no
// notification.
func TestPollsThatCloseNotify(t *testing.T) {
	t.Parallel()
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		plaza := plazatest.Serve(t, e.Open(t))
		ada := plaza.As(t, "ada")
		voters := map[string]plazatest.Person{}
		for _, handle := range []string{"bob", "cyd", "dan", "eve", "fay", "gil"} {
			voters[handle] = plaza.As(t, handle)
			ada.Do(t, `mutation($id: ID!) { followUser(input: {userId: $id}) { userErrors { code } } }`, map[string]any{"id": ada.IDOf(t, handle)}, nil)
		}
		poll := insertClosedPoll(t, plaza, ada, social.AudienceCircles, voters)
		gone := insertClosedPoll(t, plaza, ada, social.AudienceCircles, voters)
		ada.Do(t, `mutation($id: ID!) { deletePost(input: {postId: $id}) { userErrors { code } } }`, map[string]any{"id": gone}, nil)
		ada.Do(t, `mutation($id: ID!) { unfollowUser(input: {userId: $id}) { userErrors { code } } }`, map[string]any{"id": ada.IDOf(t, "cyd")}, nil)
		voters["dan"].Do(t, `mutation { setNotificationSetting(input: {kind: POLL_CLOSED, enabled: false}) { userErrors { code } } }`, nil, nil)
		voters["eve"].Do(t, `mutation($id: ID!) { muteThread(input: {postId: $id}) { userErrors { code } } }`, map[string]any{"id": poll}, nil)
		voters["fay"].Do(t, `mutation($id: ID!) { muteUser(input: {userId: $id}) { userErrors { code } } }`, map[string]any{"id": ada.IDOf(t, "ada")}, nil)

		plaza.Notify(t)
		testtime.Eventually(t, "ada is notified", func() bool { return len(closingsOf(t, ada)) > 0 })
		plaza.Notify(t)
		want := []string{poll + " of ada"}
		for handle, p := range map[string]plazatest.Person{"ada": ada, "bob": voters["bob"], "gil": voters["gil"]} {
			if got := closingsOf(t, p); !slices.Equal(got, want) {
				t.Errorf("%s has the notifications %q, want %q", handle, got, want)
			}
		}
		for _, handle := range []string{"cyd", "dan", "eve", "fay"} {
			if got := closingsOf(t, voters[handle]); len(got) > 0 {
				t.Errorf("%s has the notifications %q", handle, got)
			}
		}
		ada.Do(t, `mutation($id: ID!) { unfollowUser(input: {userId: $id}) { userErrors { code } } }`, map[string]any{"id": ada.IDOf(t, "gil")}, nil)
		if got := closingsOf(t, voters["gil"]); len(got) > 0 {
			t.Errorf("after the poll was hidden, gil has the notifications %q", got)
		}
	})
}

// TestPollsThatCloseChange: when a poll closes, it changes only for those subscribers who see it.
func TestPollsThatCloseChange(t *testing.T) {
	t.Parallel()
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		plaza := plazatest.Serve(t, e.Open(t))
		ada, bob, cyd := plaza.As(t, "ada"), plaza.As(t, "bob"), plaza.As(t, "cyd")
		ada.Do(t, `mutation($id: ID!) { followUser(input: {userId: $id}) { userErrors { code } } }`, map[string]any{"id": ada.IDOf(t, "bob")}, nil)
		poll := insertClosedPoll(t, plaza, ada, social.AudienceCircles, nil)
		ours := map[string]*plazatest.Socket{"ada": watchPost(t, ada, poll), "bob": watchPost(t, bob, poll)}
		open := cyd.Status(t, "0", plazatest.Public)
		others := cyd.Connect(t)
		others.Subscribe(plaza, "1", changesOf(false, poll, open))

		plaza.Notify(t)
		for name, s := range ours {
			if got := nextChange(t, s); got.Event != "CHANGED" || got.PostID != poll {
				t.Errorf("%s gets %s, want the poll", name, got.raw)
			}
		}
		edit(t, cyd, open, "1")
		if got := nextChange(t, others); got.PostID != open {
			t.Errorf("cyd gets %s, want only the post that cyd sees", got.raw)
		}
	})
}

// closingsOf are the polls and actors of someone's notifications of polls that have closed.
func closingsOf(t *testing.T, p plazatest.Person) (found []string) {
	t.Helper()
	var data struct {
		Viewer struct {
			UnreadNotificationsCount int
			Notifications            struct {
				Nodes []struct {
					Kind   string
					Post   struct{ ID string }
					Actors []struct{ Handle string }
				}
			}
		}
	}
	p.Do(t, `{ viewer { unreadNotificationsCount notifications { nodes { kind post { id } actors { handle } } } } }`, nil, &data)
	for _, n := range data.Viewer.Notifications.Nodes {
		if n.Kind == "POLL_CLOSED" {
			for _, actor := range n.Actors {
				found = append(found, n.Post.ID+" of "+actor.Handle)
			}
		}
	}
	if unread, all := data.Viewer.UnreadNotificationsCount, len(data.Viewer.Notifications.Nodes); unread != all {
		t.Errorf("%d of %d notifications are unread", unread, all)
	}
	return found
}

// insertClosedPoll stores a poll that has closed already, with votes.
func insertClosedPoll(t *testing.T, plaza *plazatest.Plaza, author plazatest.Person, audience social.AudienceKind, voters map[string]plazatest.Person) string {
	t.Helper()
	user := func(p plazatest.Person, handle string) social.UserID {
		found, err := social.ParseUserID(p.IDOf(t, handle))
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	ada := user(author, "ada")
	p := &social.Post{
		Author: ada, WallOwner: ada, Audience: social.Audience{Kind: audience},
		Content: social.Content{Poll: &social.Poll{Question: "Tea?", Options: []string{"yes", "no"}, ClosesAt: time.Now().Add(-time.Minute)}},
		Replies: social.ReplyPolicy{Kind: social.RepliesEveryone}, Order: social.OrderOldest,
	}
	if err := plaza.Store.InsertPost(t.Context(), p, social.Event{ID: social.EventID{ID: id.New()}, Kind: social.EventPostCreated}); err != nil {
		t.Fatal(err)
	}
	for handle := range voters {
		if err := plaza.Store.PutVote(t.Context(), p.ID, user(author, handle), 1, social.Event{ID: social.EventID{ID: id.New()}, Kind: social.EventPollVoted}); err != nil {
			t.Fatal(err)
		}
	}
	return p.ID.String()
}
