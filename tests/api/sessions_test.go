package api

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"testing"
	"time"

	"plaza/fault"
	"plaza/internal/plazatest"
	"plaza/social"
	"plaza/social/accounts"
	"plaza/social/network"
	"plaza/storage"
)

// session is an entry of Viewer.sessions.
type session struct {
	ID                   string
	CreatedAt, ExpiresAt time.Time
	IsCurrent            bool
}

func sessionsOf(t *testing.T, p plazatest.Person) []session {
	t.Helper()
	var answer struct{ Viewer struct{ Sessions []session } }
	p.Do(t, `{ viewer { sessions { id createdAt expiresAt isCurrent } } }`, nil, &answer)
	return answer.Viewer.Sessions
}

// currentSession returns the session that the person uses.
func currentSession(t *testing.T, p plazatest.Person) session {
	t.Helper()
	all := sessionsOf(t, p)
	i := slices.IndexFunc(all, func(s session) bool { return s.IsCurrent })
	if i < 0 {
		t.Fatalf("the current session is not among %+v", all)
	}
	return all[i]
}

// signInAgain returns the same person with another session.
func signInAgain(t *testing.T, p plazatest.Person, handle string) (again plazatest.Person, expires time.Time) {
	t.Helper()
	var answer struct {
		SignIn struct {
			Token     string
			ExpiresAt time.Time
		}
	}
	p.Do(t, `mutation { signIn(input: {handle: "`+handle+`", password: "password of `+handle+`"}) { token expiresAt } }`, nil, &answer)
	p.Token = answer.SignIn.Token
	return p, answer.SignIn.ExpiresAt
}

// TestSessionsLastAsLongAsTheyAreUsed uses a session and an access token at intervals, by a clock
// that runs ahead.
func TestSessionsLastAsLongAsTheyAreUsed(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		store := plazatest.Start(t, e).Store
		began := time.Now().UTC().Truncate(time.Millisecond)
		now, options := began, plazatest.Cheap
		options.Now, options.CacheSize = func() time.Time { return now }, 1<<20
		service := network.New(store, options)
		session, token, err := service.SignUp(t.Context(), accounts.SignUpInput{Handle: "ada", Name: "Ada", Password: "password of ada"})
		if err != nil {
			t.Fatal(err)
		}
		_, robot, err := service.CreateAccessToken(t.Context(), session, accounts.NewAccessToken{Name: "robot", Scopes: []social.Scope{social.ScopeReadFeed}, Days: 40})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			after, used, expires time.Duration // since the session began
			robot                bool          // whether the access token is valid
		}{
			{59 * time.Minute, 0, 30 * day, true},
			{61 * time.Minute, 61 * time.Minute, 30*day + 61*time.Minute, true},
			{29 * day, 29 * day, 59 * day, true},
			{58 * day, 58 * day, 88 * day, false},
			{87 * day, 87 * day, 117 * day, false},
			{116 * day, 116 * day, 146 * day, false},
		} {
			now = began.Add(c.after)
			for range 2 { // the second request finds what the first has stored
				if session, err = service.Authenticate(t.Context(), token); err != nil {
					t.Fatalf("after %v: %v", c.after, err)
				}
			}
			if used, expires := session.LastUse().Sub(began), session.ExpiresAt.Sub(began); used != c.used || expires != c.expires || !session.Began().Equal(began) {
				t.Errorf("after %v: used after %v and expires after %v, want %v and %v", c.after, used, expires, c.used, c.expires)
			}
			if _, err := service.Authenticate(t.Context(), robot); (err == nil) != c.robot {
				t.Errorf("the access token of 40 days after %v: %v", c.after, err)
			}
		}
		for now = began.Add(116 * day); now.Before(began.Add(365 * day)); now = now.Add(29 * day) {
			for range 2 {
				if session, err = service.Authenticate(t.Context(), token); err != nil {
					t.Fatal(err)
				}
			}
		}
		if _, err := service.Authenticate(t.Context(), token); err == nil || session.ExpiresAt.Sub(began) != social.MaxSessionLifetime {
			t.Errorf("after a year: %v, it expired after %v", err, session.ExpiresAt.Sub(began))
		}
	})
}

// TestSessionsAreListedAndRevoked: each session lists the same sessions, recognizes itself, and can
// end the others with their sockets, and then itself.
func TestSessionsAreListedAndRevoked(t *testing.T) {
	t.Parallel()
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		plaza := plazatest.Start(t, e)
		ada, bob := plaza.As(t, "ada"), plaza.As(t, "bob")
		phone, _ := signInAgain(t, ada, "ada")
		laptop, expires := signInAgain(t, ada, "ada")
		onPhone, onLaptop := currentSession(t, phone), currentSession(t, laptop)
		if all := sessionsOf(t, ada); len(all) != 3 || all[0].ExpiresAt.Before(all[1].ExpiresAt) || all[1].ExpiresAt.Before(all[2].ExpiresAt) {
			t.Fatalf("ada has the sessions %+v", all)
		}
		if !onLaptop.ExpiresAt.Equal(expires) || onLaptop.ExpiresAt.Sub(onLaptop.CreatedAt) != social.SessionLifetime {
			t.Errorf("%+v, but it was said to expire at %v", onLaptop, expires)
		}
		live := phone.Connect(t)
		live.Subscribe(plaza, "news", plazatest.NewsSubscription)
		for _, foreign := range []string{currentSession(t, bob).ID, "session_00000000000000000000000000"} {
			wantMistake(t, laptop, foreign)
		}
		laptop.Mutate(t, "revokeSession", "viewer { user { handle } } revokedSessionId", map[string]any{"sessionId": onPhone.ID})
		live.MustClose()
		wantSignedOut(t, phone)
		wantMistake(t, laptop, onPhone.ID)

		old := ada.Connect(t)
		old.Subscribe(plaza, "news", plazatest.NewsSubscription)
		laptop.Do(t, `mutation { revokeOtherSessions { viewer { user { handle } } userErrors { code } } }`, nil, nil)
		old.MustClose()
		wantSignedOut(t, ada)
		if left := sessionsOf(t, laptop); len(left) != 1 || left[0].ID != onLaptop.ID {
			t.Errorf("ada's sessions are %+v", left)
		}
		laptop.Mutate(t, "revokeSession", "revokedSessionId", map[string]any{"sessionId": onLaptop.ID})
		wantSignedOut(t, laptop)
		if left := sessionsOf(t, bob); len(left) != 1 {
			t.Errorf("bob's sessions are %+v", left)
		}
	})
}

// wantMistake tries to end a session that is not the person's.
func wantMistake(t *testing.T, p plazatest.Person, id string) {
	t.Helper()
	var answer struct {
		RevokeSession struct {
			RevokedSessionID *string
			UserErrors       []struct{ Code string }
		}
	}
	p.Do(t, `mutation($id: ID!) { revokeSession(input: {sessionId: $id}) { revokedSessionId userErrors { code } } }`, map[string]any{"id": id}, &answer)
	if got := answer.RevokeSession; got.RevokedSessionID != nil || len(got.UserErrors) != 1 {
		t.Errorf("%s: %+v", id, got)
	}
}

func wantSignedOut(t *testing.T, p plazatest.Person) {
	t.Helper()
	response, _ := p.Send(t, []byte(`{"query":"{ viewer { user { handle } } }"}`))
	if response.StatusCode != http.StatusUnauthorized {
		t.Errorf("the session still works: status %d", response.StatusCode)
	}
}

// TestAnEndedSessionEndsNoOthers: a request can still be running when its session is ended from
// another device.
func TestAnEndedSessionEndsNoOthers(t *testing.T) {
	t.Parallel()
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		service := network.New(e.Open(t), plazatest.Cheap)
		stolen, _, err := service.SignUp(t.Context(), accounts.SignUpInput{Handle: "ada", Name: "Ada", Password: "analytical engine"})
		if err != nil {
			t.Fatal(err)
		}
		mine, token, err := service.SignIn(t.Context(), accounts.Credentials{Handle: "ada", Password: "analytical engine"})
		if err != nil {
			t.Fatal(err)
		}
		if err := service.RevokeOtherSessions(t.Context(), mine); err != nil {
			t.Fatal(err)
		}
		err = service.RevokeOtherSessions(t.Context(), stolen)
		if mistake, ok := errors.AsType[*fault.Error](err); !ok || mistake.Code != fault.CodeUnauthenticated {
			t.Errorf("from the ended session: %v", err)
		}
		if _, err := service.Authenticate(t.Context(), token); err != nil {
			t.Errorf("the other session: %v", err)
		}
		if err := service.ChangePassword(t.Context(), stolen, "analytical engine", "difference engine"); err != nil {
			t.Fatal(err) // the password confirmed it
		}
		if _, err := service.Authenticate(t.Context(), token); err == nil {
			t.Error("a session outlives the change of the password")
		}
	})
}

// silentLog is a store whose event log does not report that sessions have ended.
type silentLog struct{ storage.Store }

type silentStream struct{ social.EventStream }

// Tail implements social.EventLog.
func (s silentLog) Tail(ctx context.Context, position string) (social.EventStream, error) {
	stream, err := s.Store.Tail(ctx, position)
	if err != nil {
		return nil, err
	}
	return silentStream{stream}, nil
}

// Next implements social.EventStream.
func (s silentStream) Next(ctx context.Context) (social.Event, error) {
	for {
		e, err := s.EventStream.Next(ctx)
		if err != nil || e.Kind != social.EventSessionEnded {
			return e, err
		}
	}
}

// TestOtherSessionsEndBeforeTheAnswer: once a mutation that ends the user's other sessions has its
// answer, these get no items from the same server. The event log is not needed for that.
func TestOtherSessionsEndBeforeTheAnswer(t *testing.T) {
	t.Parallel()
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		plaza := plazatest.Serve(t, silentLog{e.Open(t)})
		bob := plaza.As(t, "bob").Connect(t)
		bob.Subscribe(plaza, "news", plazatest.NewsSubscription)
		for handle, c := range map[string]struct {
			mutation string
			stays    int // the subscription of the session itself
		}{
			"ada":  {`changePassword(input: {currentPassword: "password of ada", newPassword: "another password"})`, 1},
			"cara": {`revokeOtherSessions`, 1},
			"dan":  {`deactivateAccount(input: {password: "password of dan"})`, 0},
			"eve":  {`deleteAccount(input: {password: "password of eve"})`, 0},
		} {
			laptop := plaza.As(t, handle)
			phone, _ := signInAgain(t, laptop, handle)
			own, other := laptop.Connect(t), phone.Connect(t)
			own.Subscribe(plaza, "news", plazatest.NewsSubscription)
			before := plaza.Server.Hub.Subscriptions() - 1
			other.Subscribe(plaza, "news", plazatest.NewsSubscription)
			other.Subscribe(plaza, "again", plazatest.NewsSubscription)
			laptop.Do(t, `mutation { `+c.mutation+` { userErrors { code } } }`, nil, nil)
			if got := plaza.Server.Hub.Subscriptions() - before; got != c.stays {
				t.Errorf("%s: %d subscriptions remain, want %d", c.mutation, got, c.stays)
			}
			other.MustClose()
		}
	})
}
