package api

import (
	"context"
	"strings"
	"testing"

	"plaza/internal/plazatest"
	"plaza/social"
	"plaza/storage"
)

// lateSession is a store in which something happens right before or right after the next session is
// stored.
type lateSession struct {
	storage.Store

	before, after func()
}

// InsertSession implements social.Sessions.
func (s *lateSession) InsertSession(ctx context.Context, session social.Session) error {
	before, after := s.before, s.after
	s.before, s.after = nil, nil
	if before != nil {
		before()
	}
	err := s.Store.InsertSession(ctx, session)
	if after != nil {
		after()
	}
	return err
}

// TestPasswordIsChangedDuringASignIn: a sign-in that compared the old password gets no session,
// whether the change comes before or after it is stored.
func TestPasswordIsChangedDuringASignIn(t *testing.T) {
	t.Parallel()
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		st := &lateSession{Store: e.Open(t)}
		plaza := plazatest.Serve(t, st)
		ada := plaza.As(t, "ada")
		password := "password of ada"
		change := func(to string) func() {
			return func() {
				ada.Mutate(t, "changePassword", "", map[string]any{"currentPassword": password, "newPassword": to})
				password = to
			}
		}
		for name, set := range map[string]func(){
			"before": func() { st.before = change("password 1 of ada") },
			"after":  func() { st.after = change("password 2 of ada") },
		} {
			set()
			answer := plazatest.Person{URL: plaza.URL}.Raw(t, `mutation { signIn(input: {handle: "ada", password: "`+password+`"}) { token userErrors { code } } }`)
			if !strings.Contains(answer, "BAD_CREDENTIALS") {
				t.Errorf("%s: %s", name, answer)
			}
		}
		if answer := ada.Raw(t, `{ viewer { user { handle } } }`); !strings.Contains(answer, `"ada"`) {
			t.Errorf("the session that changed the password: %s", answer)
		}
	})
}
