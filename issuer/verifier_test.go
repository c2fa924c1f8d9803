package issuer_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"plaza/fault"
	"plaza/internal/testtime"
	"plaza/issuer"
	"plaza/issuer/issuertest"
	"plaza/social"
)

// gateway is a verifier with a clock of its own, and what it logs.
type gateway struct {
	*issuer.Verifier

	ahead atomic.Int64 // of the real clock, in nanoseconds
	mu    sync.Mutex
	log   bytes.Buffer
}

func (g *gateway) Write(line []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.log.Write(line)
}

func (g *gateway) pass(d time.Duration) { g.ahead.Add(int64(d)) }

func newGateway(site *issuertest.Site, change func(*issuer.Options)) *gateway {
	g := &gateway{}
	o := site.Options()
	o.Now = func() time.Time { return time.Now().Add(time.Duration(g.ahead.Load())) }
	o.Logger = slog.New(slog.NewTextHandler(g, &slog.HandlerOptions{Level: slog.LevelDebug}))
	if change != nil {
		change(&o)
	}
	g.Verifier = issuer.New(o)
	return g
}

// accepts checks that a token is accepted, and returns what it says.
func (g *gateway) accepts(t *testing.T, what, token string) social.Assertion {
	t.Helper()
	a, err := g.Verify(t.Context(), token)
	if err != nil {
		t.Errorf("%s: %v\n%s", what, err, g.log.String())
	}
	return a
}

// refuses checks that a token is refused, as all others are.
func (g *gateway) refuses(t *testing.T, what, token string) {
	t.Helper()
	a, err := g.Verify(t.Context(), token)
	refused, ok := errors.AsType[*fault.Error](err)
	if !ok || refused.Error() != "UNAUTHENTICATED: The token is not valid: sign in again." || a != (social.Assertion{}) {
		t.Errorf("%s: %+v, %v", what, a, err)
	}
}

func TestATokenSaysWhoItsUserIs(t *testing.T) {
	t.Parallel()
	site := issuertest.New(t)
	g := newGateway(site, nil)
	issued := time.Now().Truncate(time.Second)
	a := g.accepts(t, "a token", site.Token(t, "user 42", map[string]any{
		"iat": issued.Unix(), "exp": issued.Add(time.Minute).Unix(), "preferred_username": "ada", "name": "Ada Lovelace", "picture": "https://example.org/ada.png", "nonce": "n",
	}))
	want := social.Assertion{
		Issuer: site.URL, Subject: "user 42", IssuedAt: issued, ExpiresAt: issued.Add(time.Minute + 30*time.Second),
		Handle: "ada", Name: "Ada Lovelace", AvatarURL: "https://example.org/ada.png", Nonce: "n",
	}
	if a != want {
		t.Errorf("%+v, want %+v", a, want)
	}
	a = g.accepts(t, "few claims", site.Token(t, "x", map[string]any{"iat": nil, "name": nil, "aud": []string{"other", issuertest.Audience}}))
	if !a.IssuedAt.IsZero() || a.Name != "" {
		t.Errorf("few claims: %+v", a)
	}
	renamed := newGateway(site, func(o *issuer.Options) { o.Claims = issuer.ClaimNames{Handle: "login", Name: "login"} })
	a = renamed.accepts(t, "other names of claims", site.Token(t, "x", map[string]any{"login": "bob", "preferred_username": 7}))
	if a.Handle != "bob" || a.Name != "bob" || a.AvatarURL != "" {
		t.Errorf("other names of claims: %+v", a)
	}
}

func TestAlgorithms(t *testing.T) {
	t.Parallel()
	site := issuertest.New(t)
	g := newGateway(site, nil)
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	_, edKey, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	p384, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []jose.JSONWebKey{
		{Key: rsaKey, KeyID: "rs", Algorithm: "RS256"},
		{Key: rsaKey, KeyID: "ps", Algorithm: "PS256", Use: "sig"},
		{Key: edKey, KeyID: "ed", Algorithm: "EdDSA"},
	} {
		site.Sign(key)
		g.pass(time.Minute)
		g.accepts(t, key.Algorithm, site.Token(t, "ada", nil))
	}
	site.Sign(jose.JSONWebKey{Key: p384, KeyID: "es384", Algorithm: "ES384"})
	g.pass(time.Minute)
	g.refuses(t, "an algorithm that is not allowed", site.Token(t, "ada", nil))
	ps := jose.JSONWebKey{Key: rsaKey, KeyID: "rs", Algorithm: "PS256"}
	g.refuses(t, "another algorithm than the key is for", issuertest.SignedBy(t, ps, site.Claims("ada", nil)))
}

func TestKeysWithoutID(t *testing.T) {
	t.Parallel()
	site := issuertest.New(t)
	site.Rotate(t, "second")
	unnamed := issuertest.NewKey(t, "")
	site.Sign(unnamed)
	g := newGateway(site, func(o *issuer.Options) { o.KeysURL = o.Issuer + "/keys" })
	g.accepts(t, "a token that names no key", issuertest.SignedBy(t, unnamed, site.Claims("ada", nil)))
	g.refuses(t, "one by a foreign key without a name", issuertest.SignedBy(t, issuertest.NewKey(t, ""), site.Claims("ada", nil)))
}

// TestBadTokens sends each kind of bad token, and looks for what they say in the log.
func TestBadTokens(t *testing.T) {
	t.Parallel()
	site, key := issuertest.New(t), issuertest.NewKey(t, "key")
	site.Sign(key)
	g := newGateway(site, nil)
	good := site.Token(t, "ada", nil)
	g.accepts(t, "a good token", good)
	for what, token := range issuertest.BadTokens(t, site, key) {
		g.refuses(t, what, token)
		for part := range strings.SplitSeq(token, ".") {
			if len(part) > 8 && strings.Contains(g.log.String(), part) {
				t.Errorf("%s is in the log", what)
			}
		}
	}
	for _, secret := range []string{"ada", "mallory", "none", "HS256"} {
		if strings.Contains(g.log.String(), secret) {
			t.Errorf("%q is in the log: %s", secret, g.log.String())
		}
	}
	if fetches := site.Fetches.Load(); fetches > 1 {
		t.Errorf("the keys were read %d times", fetches)
	}
	g.accepts(t, "the good token after the bad ones", good)
}

// TestTheLogTellsWrongSettingsApart: whether the issuer or the audience is not the configured one.
func TestTheLogTellsWrongSettingsApart(t *testing.T) {
	t.Parallel()
	site := issuertest.New(t)
	for reason, changes := range map[string]map[string]any{
		"of another issuer (claim iss)":    {"iss": site.URL + "/"},
		"for another audience (claim aud)": {"aud": "another"},
	} {
		g := newGateway(site, nil)
		g.refuses(t, reason, site.Token(t, "ada", changes))
		if !strings.Contains(g.log.String(), `reason="`+reason+`"`) {
			t.Errorf("%s: the log says %s", reason, g.log.String())
		}
		l := newLobby(site, issuer.Provider{Issuer: site.URL, ClientID: issuertest.Audience}, issuer.Provider{Issuer: "https://other.example", ClientID: issuertest.Audience})
		if _, err := l.Providers.Verify(t.Context(), site.IDToken(t, "7", secret, changes), secret); !errors.Is(err, social.ErrBadIDToken) || !strings.Contains(l.log.String(), `reason="`+reason+`"`) {
			t.Errorf("%s: %v, and the log says %s", reason, err, l.log.String())
		}
	}
}

func TestClocksMayDifferALittle(t *testing.T) {
	t.Parallel()
	site := issuertest.New(t)
	g := newGateway(site, nil)
	now := time.Now()
	soon, past := now.Add(20*time.Second).Unix(), now.Add(-20*time.Second).Unix()
	g.accepts(t, "a token of a clock that is ahead", site.Token(t, "ada", map[string]any{"iat": soon, "nbf": soon}))
	g.accepts(t, "a token that has just expired", site.Token(t, "ada", map[string]any{"exp": past}))
	token := site.Token(t, "ada", nil)
	g.pass(11 * time.Minute)
	g.refuses(t, "a token when it has expired", token)
}

// TestKeysAreReadRarely: unknown keys are looked for, but not for each token.
func TestKeysAreReadRarely(t *testing.T) {
	t.Parallel()
	site := issuertest.New(t)
	g := newGateway(site, nil)
	attack := issuertest.SignedBy(t, issuertest.NewKey(t, "unknown"), site.Claims("eve", nil))
	var all sync.WaitGroup
	for range 16 { // all wait for the first answer
		all.Go(func() {
			g.accepts(t, "a token among the first", site.Token(t, "ada", nil))
			g.refuses(t, "an unknown key", attack)
		})
	}
	all.Wait()
	for range 50 {
		g.refuses(t, "an unknown key", attack)
	}
	if fetches := site.Fetches.Load(); fetches != 1 {
		t.Errorf("the keys were read %d times", fetches)
	}
	g.pass(11 * time.Second)
	site.Rotate(t, "second")
	g.accepts(t, "a token by a new key", site.Token(t, "ada", nil))
	g.refuses(t, "an unknown key", attack)
	if fetches := site.Fetches.Load(); fetches != 2 {
		t.Errorf("the keys were read %d times after the rotation", fetches)
	}
}

// TestWithdrawnKeys: keys are read again after a while, although all tokens name known ones.
func TestWithdrawnKeys(t *testing.T) {
	t.Parallel()
	site := issuertest.New(t)
	g := newGateway(site, nil)
	stolen := site.Token(t, "ada", map[string]any{"exp": time.Now().Add(time.Hour).Unix()})
	g.accepts(t, "a token", stolen)
	site.Rotate(t, "second")
	site.Withdraw()
	g.pass(time.Minute)
	g.accepts(t, "a token by a key that was just withdrawn", stolen)
	g.pass(5 * time.Minute)
	testtime.Eventually(t, "the withdrawn key is refused", func() bool {
		_, err := g.Verify(context.Background(), stolen)
		return err != nil
	})
	g.accepts(t, "a token by the new key", site.Token(t, "ada", nil))
}

// TestUnavailableKeys: what is known remains in use.
func TestUnavailableKeys(t *testing.T) {
	t.Parallel()
	site := issuertest.New(t)
	g := newGateway(site, nil)
	token := site.Token(t, "ada", map[string]any{"exp": time.Now().Add(100 * time.Hour).Unix()})
	site.Down.Store(true)
	for range 3 {
		if _, err := g.Verify(t.Context(), token); !errors.Is(err, social.ErrIssuerUnavailable) {
			t.Errorf("keys that were never read: %v", err)
		}
	}
	g.refuses(t, "a bad token, for which no key is needed", "a.b.c")
	if fetches := site.Fetches.Load(); fetches != 1 {
		t.Errorf("the keys were asked for %d times", fetches)
	}
	site.Down.Store(false)
	g.pass(11 * time.Second)
	g.accepts(t, "a token, once the keys are there", token)
	site.Down.Store(true)
	g.pass(time.Hour)
	for range 3 {
		g.accepts(t, "a token, with old keys", token)
	}
	testtime.Eventually(t, "another attempt has failed", func() bool { return site.Fetches.Load() >= 3 })
	g.accepts(t, "a token after that", token)
	g.refuses(t, "an unknown key", issuertest.SignedBy(t, issuertest.NewKey(t, "unknown"), site.Claims("eve", nil)))
}

// TestWhatSitesPublish: what is not understood is left out, and secrets are never keys.
func TestWhatSitesPublish(t *testing.T) {
	t.Parallel()
	for what, publish := range map[string]func(public []jose.JSONWebKey) any{
		"nothing": func([]jose.JSONWebKey) any { return map[string]any{} },
		"no key":  func([]jose.JSONWebKey) any { return map[string]any{"keys": []string{}} },
		"a list":  func([]jose.JSONWebKey) any { return []string{"keys"} },
		"a secret": func([]jose.JSONWebKey) any {
			return jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: []byte("secret"), KeyID: "first"}}}
		},
		"too much":       func([]jose.JSONWebKey) any { return map[string]any{"x": strings.Repeat("x", 300<<10)} },
		"too many keys":  func(public []jose.JSONWebKey) any { return jose.JSONWebKeySet{Keys: many(public[0])} },
		"for encryption": func(public []jose.JSONWebKey) any { public[0].Use = "enc"; return jose.JSONWebKeySet{Keys: public} },
		"something, once": func(public []jose.JSONWebKey) any {
			return map[string]any{"keys": []any{"x", map[string]string{"kty": "new"}}}
		},
	} {
		site := issuertest.New(t)
		site.Publish(publish)
		if _, err := newGateway(site, nil).Verify(t.Context(), site.Token(t, "ada", nil)); !errors.Is(err, social.ErrIssuerUnavailable) {
			t.Errorf("a site that publishes %s: %v", what, err)
		}
	}
	site := issuertest.New(t)
	site.Publish(func(public []jose.JSONWebKey) any {
		return map[string]any{"keys": []any{"x", map[string]string{"kty": "new"}, public[0]}}
	})
	newGateway(site, nil).accepts(t, "a token of a site that also publishes other keys", site.Token(t, "ada", nil))
}

func many(key jose.JSONWebKey) []jose.JSONWebKey {
	keys := make([]jose.JSONWebKey, 21)
	for i := range keys {
		keys[i] = key
	}
	return keys
}

// TestForeignConfiguration: an openid-configuration must be the issuer's own.
func TestForeignConfiguration(t *testing.T) {
	t.Parallel()
	site := issuertest.New(t)
	g := newGateway(site, func(o *issuer.Options) { o.Issuer += "/" })
	token := issuertest.SignedBy(t, issuertest.NewKey(t, "x"), site.Claims("ada", map[string]any{"iss": site.URL + "/"}))
	if _, err := g.Verify(t.Context(), token); !errors.Is(err, social.ErrIssuerUnavailable) || site.Fetches.Load() > 0 {
		t.Errorf("the configuration of another issuer: %v", err)
	}
}
