package api

import (
	"testing"

	"plaza/id"
	"plaza/internal/plazatest"
	"plaza/social"
	"plaza/social/network"
)

// TestFollowFillsTheBuiltInCircle, also one that an earlier version has made.
func TestFollowFillsTheBuiltInCircle(t *testing.T) {
	t.Parallel()
	plazatest.ForEachEngine(t, func(t *testing.T, e plazatest.Engine) {
		st := e.Open(t)
		defer st.Close()
		users := make([]social.NewUser, 3)
		for i, handle := range []string{"earlier", "new", "other"} {
			user := social.User{ID: social.UserID{ID: id.New()}, Handle: handle, WallPolicy: social.WallEveryone}
			users[i] = social.NewUser{User: user, Following: social.NewBuiltInCircle(user.ID)}
		}
		users[0].Following.ID = social.CircleID{ID: id.New()}
		if _, err := st.ImportUsers(t.Context(), users); err != nil {
			t.Fatal(err)
		}
		service, other := network.New(st, plazatest.Cheap), users[2].User.ID
		for _, u := range users[:2] {
			if _, err := service.CreateCircle(t.Context(), u.User.ID, "Friends"); err != nil {
				t.Fatal(err)
			}
			if err := service.Follow(t.Context(), u.User.ID, other); err != nil {
				t.Fatal(err)
			}
			circles, err := st.Circles(t.Context(), []social.CircleID{u.Following.ID})
			if err != nil {
				t.Fatal(err)
			}
			if n := circles[u.Following.ID].MembersCount; n != 1 {
				t.Errorf("the built-in circle of %s has %d members, want 1", u.User.Handle, n)
			}
		}
	})
}
