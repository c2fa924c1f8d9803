package api

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"plaza/fault"
	"plaza/internal/plazatest"
	"plaza/issuer"
	"plaza/issuer/issuertest"
	"plaza/ratelimit"
	"plaza/social"
	"plaza/social/accounts"
	"plaza/social/network"
	"plaza/social/passwords"
)

const nonceSecret = "the secret that a sign-in began with"

// lobby is a server for people who sign in with a provider, whose clock a test can put forward.
type lobby struct {
	*plazatest.Plaza

	site  *issuertest.Site
	ahead atomic.Int64 // of the real clock, in nanoseconds
}

func (l *lobby) now() time.Time { return time.Now().Add(time.Duration(l.ahead.Load())) }

// serveLobby serves a store with closed registration; the provider may create accounts there if
// creates is true.
func serveLobby(t *testing.T, e plazatest.Engine, creates bool) *lobby {
	t.Helper()
	l := &lobby{site: issuertest.New(t)}
	l.Plaza = plazatest.ServeProviders(t, e.Open(t), l.now, accounts.RegistrationClosed, issuer.Provider{Issuer: l.site.URL, ClientID: issuertest.Audience, CreatesAccounts: creates})
	return l
}

// entered is the answer to signInWithIdToken.
type entered struct {
	Token      string
	ExpiresAt  *time.Time
	Viewer     *struct{ User profile }
	UserErrors []struct {
		Code, Message string
		Path          []string
	}
}

// enter signs in with a token, and returns the answer, and the code of the first mistake with its
// place.
func enter(t *testing.T, url, idToken, secret string) (entered, string) {
	t.Helper()
	var answer struct{ SignInWithIDToken entered }
	plazatest.Person{URL: url, Token: "an old token, which a sign-in ignores"}.Do(t, `mutation($in: SignInWithIdTokenInput!) { signInWithIDToken: signInWithIdToken(input: $in) {
		token expiresAt viewer { user { id handle name avatarUrl } } userErrors { code message path } } }`,
		map[string]any{"in": map[string]any{"idToken": idToken, "nonce": secret}}, &answer)
	in := answer.SignInWithIDToken
	if len(in.UserErrors) == 0 {
		return in, ""
	}
	return in, in.UserErrors[0].Code + " " + strings.Join(in.UserErrors[0].Path, ".")
}

// TestSignInWithIDToken: a user of a provider gets a session like any other.
func TestSignInWithIDToken(t *testing.T) {
	t.Parallel()
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		l := serveLobby(t, e, true)
		anyone := plazatest.Person{URL: l.URL}
		if got := anyone.Raw(t, `{ registration identityProviders { issuer clientId } }`); !strings.Contains(got, fmt.Sprintf(`"issuer": %q`, l.site.URL)) {
			t.Errorf("the providers are %s", got)
		}
		called := map[string]any{"preferred_username": "ada", "name": "Ada Lovelace", "picture": "https://example.org/ada.png"}
		first, mistake := enter(t, l.URL, l.site.IDToken(t, "1", nonceSecret, called), nonceSecret)
		if mistake != "" || first.Token == "" || first.ExpiresAt == nil || first.Viewer == nil {
			t.Fatalf("the first sign-in: %+v", first)
		}
		if want := (profile{first.Viewer.User.ID, "ada", "Ada Lovelace", "https://example.org/ada.png"}); first.Viewer.User != want {
			t.Errorf("the account is %+v, want %+v", first.Viewer.User, want)
		}
		again, mistake := enter(t, l.URL, l.site.IDToken(t, "1", nonceSecret, map[string]any{"preferred_username": "other"}), nonceSecret)
		if mistake != "" || again.Viewer.User != first.Viewer.User || again.Token == first.Token {
			t.Errorf("the second sign-in: %+v", again)
		}
		ada := plazatest.Person{URL: l.URL, Token: first.Token}
		ada.Status(t, "hello", plazatest.Public)
		must(t, ada.Raw(t, `{ viewer { hasPassword } }`), `"hasPassword":false`)
		if sessions := sessionsOf(t, ada); len(sessions) != 2 {
			t.Errorf("the sessions are %+v", sessions)
		}
		if v := verdictOf(t, ada, `mutation { signOut { userErrors { code path message } } }`, nil, "signOut"); v.code != "" {
			t.Errorf("signOut: %s", v.raw)
		}
		mustBeRefused(t, ada, "the token after signOut", notValid)
		profileOf(t, plazatest.Person{URL: l.URL, Token: again.Token})
	})
}

// TestBadIDTokensOfProviders: all are refused alike, and create nothing.
func TestBadIDTokensOfProviders(t *testing.T) {
	t.Parallel()
	l := serveLobby(t, plazatest.Engines[0], true)
	key := issuertest.NewKey(t, "key")
	l.site.Sign(key)
	for what, token := range issuertest.BadIDTokens(t, l.site, key, nonceSecret) {
		if in, mistake := enter(t, l.URL, token, nonceSecret); mistake != "BAD_CREDENTIALS input.idToken" || in.Token != "" || in.Viewer != nil || in.UserErrors[0].Message != "The ID token is not valid: sign in with the provider again." {
			t.Errorf("%s: %+v", what, in)
		}
	}
	if _, mistake := enter(t, l.URL, l.site.IDToken(t, "1", "short", nil), "short"); mistake != "INVALID input.nonce" {
		t.Errorf("a short secret: %s", mistake)
	}
	if has, err := l.Store.HasUsers(t.Context()); err != nil || has {
		t.Errorf("a bad token has created an account: %v", err)
	}
	plain := plazatest.ServeProviders(t, plazatest.Engines[0].Open(t), l.now, accounts.RegistrationOpen)
	if _, mistake := enter(t, plain.URL, l.site.IDToken(t, "1", nonceSecret, nil), nonceSecret); mistake != "NOT_ALLOWED " {
		t.Errorf("a server without providers: %q", mistake)
	}
	down := serveLobby(t, plazatest.Engines[0], true)
	down.site.Down.Store(true)
	v := verdictOf(t, plazatest.Person{URL: down.URL}, `mutation($in: SignInWithIdTokenInput!) { signInWithIdToken(input: $in) { token userErrors { code path message } } }`,
		map[string]any{"in": map[string]any{"idToken": down.site.IDToken(t, "1", nonceSecret, nil), "nonce": nonceSecret}}, "signInWithIdToken")
	if v.code != "UNAVAILABLE" {
		t.Errorf("a provider that does not answer: %s", v.raw)
	}
}

// TestProvidersWhereRegistrationIsClosed: a provider creates no accounts, unless it may.
func TestProvidersWhereRegistrationIsClosed(t *testing.T) {
	t.Parallel()
	l := serveLobby(t, plazatest.Engines[0], false)
	if _, mistake := enter(t, l.URL, l.site.IDToken(t, "1", nonceSecret, nil), nonceSecret); mistake != "NOT_ALLOWED " {
		t.Errorf("a user without an account: %q", mistake)
	}
	other := plazatest.ServeProviders(t, unclosed{l.Store}, l.now, accounts.RegistrationOpen, issuer.Provider{Issuer: l.site.URL, ClientID: issuertest.Audience})
	if _, mistake := enter(t, other.URL, l.site.IDToken(t, "1", nonceSecret, nil), nonceSecret); mistake != "" {
		t.Errorf("the same, where registration is open: %q", mistake)
	}
	if _, mistake := enter(t, l.URL, l.site.IDToken(t, "1", nonceSecret, nil), nonceSecret); mistake != "" {
		t.Errorf("a user with an account: %q", mistake)
	}
}

// TestDeletedAndSignedOutUsersOfProviders: what ends tokens of another site also ends ID tokens.
func TestDeletedAndSignedOutUsersOfProviders(t *testing.T) {
	t.Parallel()
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		l := serveLobby(t, e, true)
		service := network.New(l.Store, network.Options{Now: l.now})
		stolen := l.site.IDToken(t, "1", nonceSecret, map[string]any{"preferred_username": "ada"})
		first, _ := enter(t, l.URL, stolen, nonceSecret)
		if _, err := service.EndAllSessions(t.Context(), "ada"); err != nil {
			t.Fatal(err)
		}
		mustBeRefused(t, plazatest.Person{URL: l.URL, Token: first.Token}, "the session", notValid)
		if _, mistake := enter(t, l.URL, stolen, nonceSecret); mistake != "BAD_CREDENTIALS input.idToken" {
			t.Errorf("an ID token from before the sign-out: %q", mistake)
		}
		l.ahead.Store(int64(time.Minute))
		later, mistake := enter(t, l.URL, l.site.IDToken(t, "1", nonceSecret, map[string]any{"iat": l.now().Unix()}), nonceSecret)
		if mistake != "" {
			t.Fatalf("a later ID token: %q", mistake)
		}
		ada := plazatest.Person{URL: l.URL, Token: later.Token}
		if v := verdictOf(t, ada, `mutation { deleteAccount(input: {}) { deletedUserId userErrors { code path message } } }`, nil, "deleteAccount"); v.code != "" {
			t.Fatalf("deleteAccount: %s", v.raw)
		}
		in, mistake := enter(t, l.URL, l.site.IDToken(t, "1", nonceSecret, map[string]any{"iat": l.now().Unix()}), nonceSecret)
		if mistake != "NOT_ALLOWED " || in.UserErrors[0].Message != gone {
			t.Errorf("after the deletion: %+v", in)
		}
		if err := service.ReadmitIdentity(t.Context(), l.site.URL, "1"); err != nil {
			t.Fatal(err)
		}
		if _, mistake := enter(t, l.URL, l.site.IDToken(t, "1", nonceSecret, map[string]any{"iat": l.now().Unix()}), nonceSecret); mistake != "" {
			t.Errorf("readmitted: %q", mistake)
		}
	})
}

// TestBannedUsersOfProviders read why they can't sign in, as those with a password do.
func TestBannedUsersOfProviders(t *testing.T) {
	t.Parallel()
	l := serveLobby(t, plazatest.Engines[0], true)
	called := map[string]any{"preferred_username": "ada"}
	if _, mistake := enter(t, l.URL, l.site.IDToken(t, "1", nonceSecret, called), nonceSecret); mistake != "" {
		t.Fatal(mistake)
	}
	sanction(t, l.Store, "ada", social.Decision{Action: social.ActionBan})
	in, mistake := enter(t, l.URL, l.site.IDToken(t, "1", nonceSecret, called), nonceSecret)
	if mistake != "BANNED " || in.Token != "" || in.UserErrors[0].Message != "This account is banned: Adverts" {
		t.Errorf("%q: %+v", mistake, in)
	}
}

// TestSignInsWithIDTokensDuringSignOut: a sign-in that an operator's sign-out does not find leaves no
// session behind.
func TestSignInsWithIDTokensDuringSignOut(t *testing.T) {
	t.Parallel()
	st := plazatest.Engines[0].Open(t)
	a := social.Assertion{Issuer: "https://id.example", Subject: "1", IssuedAt: time.Now(), ExpiresAt: time.Now().Add(time.Hour)}
	good := func(context.Context) (social.Assertion, error) { return a, nil }
	service := network.New(st, network.Options{})
	session, _, err := service.SignInWith(t.Context(), accounts.IDToken{Verify: good})
	if err != nil {
		t.Fatal(err)
	}
	users, err := st.Users(t.Context(), []social.UserID{session.User})
	if err != nil {
		t.Fatal(err)
	}
	slow := network.New(slowSignIn{Store: st, accepted: func() {
		if _, err := service.EndAllSessions(t.Context(), users[session.User].Handle); err != nil {
			t.Error(err)
		}
	}}, network.Options{})
	if _, _, err := slow.SignInWith(t.Context(), accounts.IDToken{Verify: good}); !errors.Is(err, social.ErrBadIDToken) {
		t.Errorf("a sign-in during the sign-out: %v", err)
	}
	if left, err := service.Sessions(t.Context(), session.User); err != nil || len(left) > 0 {
		t.Errorf("%d sessions are left: %v", len(left), err)
	}
}

// TestSignInsWithIDTokensAreLimited by address: those that are refused, and new accounts.
func TestSignInsWithIDTokensAreLimited(t *testing.T) {
	t.Parallel()
	limit := func(burst int) *ratelimit.Limit { // which does not refill while the test runs
		return ratelimit.New(ratelimit.Policy{Name: "test", Burst: burst, Window: 10_000 * time.Hour})
	}
	limits := &passwords.Limits{Addresses: limit(6), Guesses: limit(6), Handles: limit(6), SignUps: limit(2)}
	service := network.New(plazatest.Engines[0].Open(t), network.Options{Accounts: accounts.Options{Limits: limits}})
	bad := func(context.Context) (social.Assertion, error) { return social.Assertion{}, social.ErrBadIDToken }
	users := 0
	next := func(context.Context) (social.Assertion, error) {
		users++
		return social.Assertion{Issuer: "https://id.example", Subject: strconv.Itoa(users), IssuedAt: time.Now()}, nil
	}
	known := func(context.Context) (social.Assertion, error) {
		return social.Assertion{Issuer: "https://id.example", Subject: "1", IssuedAt: time.Now()}, nil
	}
	try := func(times int, verify func(context.Context) (social.Assertion, error), from string) (limited int) {
		for range times {
			_, _, err := service.SignInWith(t.Context(), accounts.IDToken{Verify: verify, From: from})
			if refused, ok := errors.AsType[*fault.Error](err); ok && refused.Code == fault.CodeRateLimited {
				limited++
			}
		}
		return limited
	}
	for _, c := range []struct {
		what      string
		got, want int
	}{
		{"bad tokens", try(8, bad, "192.0.2.1"), 2},
		{"a good one after them", try(1, next, "192.0.2.1"), 1},
		{"new accounts", try(5, next, "192.0.2.2"), 3},
		{"a known user after them", try(8, known, "192.0.2.2"), 0},
	} {
		if c.got != c.want {
			t.Errorf("%s: %d are limited, want %d", c.what, c.got, c.want)
		}
	}
}

// slowSignIn is a store that calls back before it stores a session.
type slowSignIn struct {
	social.Store

	accepted func()
}

func (s slowSignIn) InsertSession(ctx context.Context, session social.Session) error {
	s.accepted()
	return s.Store.InsertSession(ctx, session)
}
