package api

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"plaza/fault"
	"plaza/internal/plazatest"
	"plaza/issuer/issuertest"
	"plaza/social"
	"plaza/social/accounts"
	"plaza/social/network"
	"plaza/storage"
)

// trusting is a server for the users of a site, whose clock a test can put forward.
type trusting struct {
	*plazatest.Plaza

	site  *issuertest.Site
	ahead atomic.Int64 // of the real clock, in nanoseconds
}

func serveTrusting(t *testing.T, e plazatest.Engine) *trusting {
	t.Helper()
	w := &trusting{site: issuertest.New(t)}
	w.Plaza = plazatest.ServeTrusting(t, e.Open(t), w.site.Options(), w.now)
	return w
}

func (w *trusting) now() time.Time { return time.Now().Add(time.Duration(w.ahead.Load())) }

// with returns a person who brings a token of the site.
func (w *trusting) with(t *testing.T, subject string, claims map[string]any) plazatest.Person {
	t.Helper()
	return plazatest.Person{URL: w.URL, Token: w.site.Token(t, subject, claims)}
}

// profile is what the API says of a signed-in user.
type profile struct{ ID, Handle, Name, AvatarURL string }

func profileOf(t *testing.T, p plazatest.Person) profile {
	t.Helper()
	var answer struct{ Viewer struct{ User profile } }
	p.Do(t, `{ viewer { user { id handle name avatarUrl } } }`, nil, &answer)
	return answer.Viewer.User
}

func mustBeRefused(t *testing.T, p plazatest.Person, what, message string) {
	t.Helper()
	if v := verdictOf(t, p, `{ viewer { user { id } } }`, nil, ""); v.code != "UNAUTHENTICATED" || v.message != message {
		t.Errorf("%s: %s", what, v.raw)
	}
}

const (
	notValid = "The token is not valid: sign in again."
	gone     = "This account is deleted."
)

// TestFirstTokenCreatesAccount: the first token of a user creates an account, also where
// registration is closed.
func TestFirstTokenCreatesAccount(t *testing.T) {
	t.Parallel()
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		w := serveTrusting(t, e)
		called := map[string]any{"preferred_username": "Ada.Lovelace@example.org", "name": " Ada Lovelace ", "picture": "https://example.org/ada.png"}
		ada := profileOf(t, w.with(t, "1", called))
		if want := (profile{ada.ID, "ada_lovelace", "Ada Lovelace", "https://example.org/ada.png"}); ada != want {
			t.Errorf("the account is %+v, want %+v", ada, want)
		}
		if again := profileOf(t, w.with(t, "1", map[string]any{"preferred_username": "other", "name": "Other"})); again != ada {
			t.Errorf("with the next token the account is %+v", again)
		}
		numbered := regexp.MustCompile(`^[a-z0-9_]+_[0-9]{4}$`)
		for subject, c := range map[string]struct {
			claims map[string]any
			handle *regexp.Regexp
			name   string
		}{
			"2":  {map[string]any{"preferred_username": "ADA_lovelace", "name": "Another"}, regexp.MustCompile(`^ada_lovelace_[0-9]{4}$`), "Another"},
			"3":  {map[string]any{"preferred_username": "admin"}, regexp.MustCompile(`^admin_[0-9]{4}$`), ""},
			"4":  {nil, regexp.MustCompile(`^member_[0-9]{4}$`), ""},
			"5":  {map[string]any{"preferred_username": "李", "name": "李"}, numbered, "李"},
			"6":  {map[string]any{"preferred_username": "Zoë Ångström", "picture": "/zoe.png"}, regexp.MustCompile(`^zoe_angstrom$`), ""},
			"7":  {map[string]any{"preferred_username": strings.Repeat("x", 100), "name": strings.Repeat("n", 200)}, regexp.MustCompile(`^x{30}$`), strings.Repeat("n", 100)},
			"8":  {map[string]any{"preferred_username": strings.Repeat("x", 30)}, regexp.MustCompile(`^x{21}_[0-9]{4}$`), ""},
			"9":  {map[string]any{"preferred_username": "__", "name": "  "}, numbered, ""},
			"10": {map[string]any{"preferred_username": "@", "name": nil}, numbered, ""},
		} {
			if subject == "8" {
				continue // after 7, below
			}
			mustBeMade(t, w, subject, c.claims, c.handle, c.name)
		}
		mustBeMade(t, w, "8", map[string]any{"preferred_username": strings.Repeat("x", 30)}, regexp.MustCompile(`^x{21}_[0-9]{4}$`), "")
	})
}

func mustBeMade(t *testing.T, w *trusting, subject string, claims map[string]any, handle *regexp.Regexp, name string) {
	t.Helper()
	made := profileOf(t, w.with(t, subject, claims))
	if name == "" {
		name = made.Handle
	}
	if !handle.MatchString(made.Handle) || made.Name != name || made.AvatarURL != "" {
		t.Errorf("of %v the account is %+v", claims, made)
	}
	if again := profileOf(t, w.with(t, subject, nil)); again != made {
		t.Errorf("the account of %v is %+v, and then %+v", claims, made, again)
	}
}

// TestConcurrentFirstTokens sends the first requests of a user to two servers at the same time.
func TestConcurrentFirstTokens(t *testing.T) {
	t.Parallel()
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		w := serveTrusting(t, e)
		other := plazatest.ServeTrusting(t, unclosed{w.Store}, w.site.Options(), w.now)
		var ids sync.Map
		var all sync.WaitGroup
		for i := range 16 {
			who := w.with(t, "1", map[string]any{"preferred_username": "ada", "jti": strconv.Itoa(i)})
			if i%2 == 1 {
				who.URL = other.URL
			}
			all.Go(func() { ids.Store(profileOf(t, who).ID, true) })
		}
		all.Wait()
		count := 0
		ids.Range(func(any, any) bool { count++; return true })
		users, _, err := network.New(w.Store, network.Options{}).AllUsers(t.Context(), social.Page{Limit: 100})
		if err != nil || count != 1 || len(users) != 1 || users[0].Handle != "ada" {
			t.Errorf("%d accounts answered, %d exist: %v", count, len(users), err)
		}
	})
}

// TestBadTokensOfAnotherSite sends every bad token by every transport: all get the same answer, and
// create nothing.
func TestBadTokensOfAnotherSite(t *testing.T) {
	t.Parallel()
	w := serveTrusting(t, plazatest.Engines[0])
	key := issuertest.NewKey(t, "key")
	w.site.Sign(key)
	for what, token := range issuertest.BadTokens(t, w.site, key) {
		p := plazatest.Person{URL: w.URL, Token: token}
		mustBeClosedOut(t, p, what)
		if strings.Contains(token, "\x00") { // no header can have it
			continue
		}
		mustBeRefused(t, p, what, notValid)
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.URL+"/graphql", strings.NewReader(`{"query":"subscription { newsItemAdded { cursor } }"}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+token)
		r.Header.Set("Accept", "text/event-stream")
		r.Header.Set("Content-Type", "application/json")
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode != http.StatusUnauthorized || response.Header.Get("WWW-Authenticate") != "Bearer" {
			t.Errorf("%s, server-sent events: %s", what, response.Status)
		}
	}
	if has, err := w.Store.HasUsers(t.Context()); err != nil || has {
		t.Errorf("a bad token has created an account: %v", err)
	}
	if handle := profileOf(t, w.with(t, "1", map[string]any{"preferred_username": "ada"})).Handle; handle != "ada" {
		t.Errorf("a good token after them: %q", handle)
	}
}

// mustBeClosedOut opens a websocket, which the token must not open.
func mustBeClosedOut(t *testing.T, p plazatest.Person, what string) {
	t.Helper()
	if code := p.Rejected(t); code != 4403 {
		t.Errorf("%s, websocket: closed with %d", what, code)
	}
}

// TestTokensOfAnotherSiteWithoutSetting: a server that trusts no site looks at no JWT.
func TestTokensOfAnotherSiteWithoutSetting(t *testing.T) {
	t.Parallel()
	site := issuertest.New(t)
	plaza := plazatest.Start(t, plazatest.Engines[0])
	mustBeRefused(t, plazatest.Person{URL: plaza.URL, Token: site.Token(t, "1", nil)}, "a token of a site that is not trusted", notValid)
	if site.Fetches.Load() > 0 {
		t.Error("its keys were read")
	}
}

// TestUnavailableSite: where its keys were never read, nothing can be said of a token.
func TestUnavailableSite(t *testing.T) {
	t.Parallel()
	w := serveTrusting(t, plazatest.Engines[0])
	w.site.Down.Store(true)
	ada := w.with(t, "1", nil)
	if v := verdictOf(t, ada, `{ viewer { user { id } } }`, nil, ""); v.code != "UNAVAILABLE" {
		t.Errorf("without keys: %s", v.raw)
	}
	if code := ada.Rejected(t); code != 1013 {
		t.Errorf("a websocket without keys is closed with %d", code)
	}
	w.site.Down.Store(false)
	w.ahead.Store(int64(time.Minute))
	profileOf(t, ada)
}

// TestTokensOfAnotherSiteAreSessions: they may do what a sign-in may, apart from what the site does.
func TestTokensOfAnotherSiteAreSessions(t *testing.T) {
	t.Parallel()
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		w := serveTrusting(t, e)
		ada := w.with(t, "1", map[string]any{"preferred_username": "ada"})
		ada.Status(t, "hello", plazatest.Public)
		robot := newAccessToken(t, ada, "WRITE_POSTS")
		robot.program.Status(t, "beep", plazatest.Public)
		if sessions := sessionsOf(t, ada); len(sessions) != 0 {
			t.Errorf("the sessions are %+v", sessions)
		}
		for _, c := range []struct{ mutation, name, code, at string }{
			{`mutation { signOut { userErrors { code path message } } }`, "signOut", "NOT_ALLOWED", ""},
			{`mutation { changePassword(input: {currentPassword: "", newPassword: "password of ada"}) { userErrors { code path message } } }`, "changePassword", "NOT_ALLOWED", "input.currentPassword"},
			{`mutation { deleteAccount(input: {password: ""}) { userErrors { code path message } } }`, "deleteAccount", "NOT_ALLOWED", "input.password"},
			{`mutation { revokeOtherSessions { userErrors { code path message } } }`, "revokeOtherSessions", "", ""},
			{`mutation { signIn(input: {handle: "ada", password: ""}) { userErrors { code path message } } }`, "signIn", "BAD_CREDENTIALS", ""},
		} {
			if v := verdictOf(t, ada, c.mutation, nil, c.name); v.code != c.code || v.at != c.at {
				t.Errorf("%s: %+v", c.name, v)
			}
		}
		profileOf(t, ada)
		remembered(t, w)
	})
}

// remembered checks that a known identity takes no read of the database.
func remembered(t *testing.T, w *trusting) {
	t.Helper()
	service := network.New(w.Store, network.Options{CacheSize: 1 << 20})
	for range 5 {
		a := social.Assertion{Issuer: w.site.URL, Subject: "1", IssuedAt: w.now(), ExpiresAt: w.now().Add(time.Hour)}
		if _, err := service.AuthenticateAs(t.Context(), "a.b.c", a); err != nil {
			t.Fatal(err)
		}
	}
	if stats := service.CacheStats().Sessions; stats.Misses != 1 || stats.Hits != 4 {
		t.Errorf("five requests: %+v", stats)
	}
}

// TestDeletedUsersOfAnotherSite: their tokens create no other account, until an operator allows it.
func TestDeletedUsersOfAnotherSite(t *testing.T) {
	t.Parallel()
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		w := serveTrusting(t, e)
		called := map[string]any{"preferred_username": "ada"}
		ada, elsewhere := w.with(t, "1", called), w.with(t, "1", map[string]any{"jti": "elsewhere"})
		robot := newAccessToken(t, ada, "READ_FEED").program
		ben := w.with(t, "2", map[string]any{"preferred_username": "ben"})
		before := profileOf(t, ada)
		idle, listening, bens := elsewhere.Connect(t), elsewhere.Connect(t), ben.Connect(t)
		listening.Subscribe(w.Plaza, "news", plazatest.NewsSubscription)
		bens.Subscribe(w.Plaza, "news", plazatest.NewsSubscription)
		if v := verdictOf(t, ada, `mutation { deleteAccount(input: {}) { deletedUserId userErrors { code path message } } }`, nil, "deleteAccount"); v.code != "" {
			t.Fatalf("deleteAccount: %s", v.raw)
		}
		idle.MustClose()
		listening.MustClose()
		mustBeRefused(t, ada, "the token of a deleted account", gone)
		mustBeRefused(t, w.with(t, "1", called), "another token", gone)
		mustBeRefused(t, robot, "an access token", notValid)
		service := network.New(w.Store, network.Options{})
		err := service.ReadmitIdentity(t.Context(), w.site.URL, "2")
		if mistake, ok := errors.AsType[*fault.Error](err); !ok || mistake.Code != fault.CodeNotFound {
			t.Errorf("readmitting a user with an account: %v", err)
		}
		if err := service.ReadmitIdentity(t.Context(), w.site.URL, "1"); err != nil {
			t.Fatal(err)
		}
		if after := profileOf(t, w.with(t, "1", called)); after.ID == before.ID || !strings.HasPrefix(after.Handle, "ada_") {
			t.Errorf("the account is %+v, and was %+v", after, before)
		}
		ben.Status(t, "still here", plazatest.Public)
		if got := bens.TextOf(bens.Next()); got != "still here" {
			t.Errorf("ben got %q", got)
		}
	})
}

// TestOperatorsEndTokensOfAnotherSite: those that were issued so far.
func TestOperatorsEndTokensOfAnotherSite(t *testing.T) {
	t.Parallel()
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		w := serveTrusting(t, e)
		ada := w.with(t, "1", map[string]any{"preferred_username": "ada"})
		before := profileOf(t, ada)
		untimed := w.with(t, "1", map[string]any{"iat": nil})
		profileOf(t, untimed)
		open := ada.Connect(t)
		open.Subscribe(w.Plaza, "news", plazatest.NewsSubscription)
		if _, err := network.New(w.Store, network.Options{Now: w.now}).EndAllSessions(t.Context(), "ada"); err != nil {
			t.Fatal(err)
		}
		open.MustClose()
		mustBeRefused(t, ada, "an earlier token", notValid)
		mustBeRefused(t, untimed, "a token that does not say when it was issued", notValid)
		ahead := w.with(t, "1", map[string]any{"iat": w.now().Add(20 * time.Second).Unix()})
		mustBeRefused(t, ahead, "a token of a clock that is ahead, which may have been issued before", notValid)
		w.ahead.Store(int64(time.Minute))
		mustBeRefused(t, ahead, "the same, when its time has come", notValid)
		later := map[string]any{"iat": w.now().Unix()}
		if after := profileOf(t, w.with(t, "1", later)); after != before {
			t.Errorf("with a later token: %+v", after)
		}
	})
}

// TestRefusalsOfAccountsAreLogged for operators, without the user and the token.
func TestRefusalsOfAccountsAreLogged(t *testing.T) {
	t.Parallel()
	st := plazatest.Engines[0].Open(t)
	defer func() { _ = st.Close() }()
	var log bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	service := network.New(st, network.Options{Accounts: accounts.Options{Logger: logger}})
	a := social.Assertion{Issuer: "https://site.example", Subject: "secret", Handle: "ada", IssuedAt: time.Now().Add(-time.Second), ExpiresAt: time.Now().Add(time.Hour)}
	ada, err := service.AuthenticateAs(t.Context(), "a.b.c", a)
	if err != nil || log.Len() > 0 {
		t.Fatalf("%v, and the log says %s", err, &log)
	}
	for _, c := range []struct {
		reason string
		act    func() error
	}{
		{"issued before the user was signed out", func() error { _, err := service.EndAllSessions(t.Context(), "ada"); return err }},
		{"of a banned account", func() error {
			_, err := service.Sanction(t.Context(), "ada", social.Decision{Action: social.ActionBan, Reason: "Why?"})
			return err
		}},
		{"of a deleted account", func() error { return service.DeleteUser(t.Context(), ada.User) }},
	} {
		if err := c.act(); err != nil {
			t.Fatal(err)
		}
		log.Reset()
		_, err := service.AuthenticateAs(t.Context(), "a.b.c", a)
		if said := log.String(); err == nil || !strings.Contains(said, `msg="a token of the issuer was refused" issuer=https://site.example reason="`+c.reason) ||
			strings.Contains(said, "secret") || strings.Contains(said, "a.b.c") || strings.Count(said, "\n") != 1 {
			t.Errorf("%s: %v, and the log says %s", c.reason, err, said)
		}
	}
}

// midway is a store that calls back when it has ended a user's sessions.
type midway struct {
	storage.Store

	ended func()
}

func (m midway) EndSessions(ctx context.Context, user social.UserID, keep [32]byte, which social.SessionKinds) error {
	err := m.Store.EndSessions(ctx, user, keep, which)
	m.ended()
	return err
}

// TestAccessTokensDuringSignOut: a token that is being ended can't leave an access token behind.
func TestAccessTokensDuringSignOut(t *testing.T) {
	t.Parallel()
	w := serveTrusting(t, plazatest.Engines[0])
	profileOf(t, w.with(t, "1", map[string]any{"preferred_username": "ada"}))
	service := network.New(w.Store, network.Options{})
	a := social.Assertion{Issuer: w.site.URL, Subject: "1", IssuedAt: w.now(), ExpiresAt: w.now().Add(time.Hour)}
	stolen, err := service.AuthenticateAs(t.Context(), "a.b.c", a)
	if err != nil {
		t.Fatal(err)
	}
	operator := network.New(midway{w.Store, func() {
		if _, _, err := service.CreateAccessToken(t.Context(), stolen, accounts.NewAccessToken{Name: "robot", Scopes: []social.Scope{social.ScopeReadFeed}, Days: 1}); err == nil {
			t.Error("the token has created an access token")
		}
	}}, network.Options{})
	if _, err := operator.EndAllSessions(t.Context(), "ada"); err != nil {
		t.Fatal(err)
	}
	if left, err := service.AccessTokens(t.Context(), stolen.User); err != nil || len(left) > 0 {
		t.Errorf("%d access tokens are left: %v", len(left), err)
	}
}

// TestSocketsEndWithTheirTokens: those of other tokens of the same user go on.
func TestSocketsEndWithTheirTokens(t *testing.T) {
	t.Parallel()
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		w := serveTrusting(t, e)
		short := w.with(t, "1", map[string]any{"preferred_username": "ada"})
		long := w.with(t, "1", map[string]any{"exp": time.Now().Add(24 * time.Hour).Unix()})
		ends, goesOn := short.Connect(t), long.Connect(t)
		ends.Subscribe(w.Plaza, "news", plazatest.NewsSubscription)
		goesOn.Subscribe(w.Plaza, "news", plazatest.NewsSubscription)
		w.ahead.Store(int64(time.Hour))
		ends.MustClose()
		mustBeRefused(t, short, "the expired token", notValid)
		long.Status(t, "still here", plazatest.Public)
		if got := goesOn.TextOf(goesOn.Next()); got != "still here" {
			t.Errorf("got %q", got)
		}
	})
}
