package issuer_test

import (
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"plaza/fault"
	"plaza/issuer"
	"plaza/issuer/issuertest"
	"plaza/social"
)

const secret = "the secret that a sign-in began with"

// lobby verifies ID tokens by a clock of its own.
type lobby struct {
	*issuer.Providers
	*gateway
}

func newLobby(site *issuertest.Site, providers ...issuer.Provider) *lobby {
	l := &lobby{gateway: &gateway{}}
	o := site.Options()
	o.Now = func() time.Time { return time.Now().Add(time.Duration(l.ahead.Load())) }
	o.Logger = slog.New(slog.NewTextHandler(l.gateway, &slog.HandlerOptions{Level: slog.LevelDebug}))
	l.Providers = issuer.NewProviders(providers, o)
	return l
}

func TestIDTokens(t *testing.T) {
	t.Parallel()
	site := issuertest.New(t)
	l := newLobby(site,
		issuer.Provider{Issuer: "https://other.example", ClientID: issuertest.Audience},
		issuer.Provider{Issuer: site.URL, ClientID: issuertest.Audience},
		issuer.Provider{Issuer: site.URL, ClientID: "app", CreatesAccounts: true},
	)
	for what, c := range map[string]struct {
		changes map[string]any
		creates bool
	}{
		"a token":                       {nil, false},
		"one that names its client":     {map[string]any{"azp": issuertest.Audience}, false},
		"one for several audiences":     {map[string]any{"aud": []string{"api", issuertest.Audience}, "azp": issuertest.Audience}, false},
		"one for another of our client": {map[string]any{"aud": "app", "azp": "app"}, true},
	} {
		a, err := l.Providers.Verify(t.Context(), site.IDToken(t, "7", secret, c.changes), secret)
		if err != nil || a.Issuer != site.URL || a.Subject != "7" || a.CreatesAccount != c.creates {
			t.Errorf("%s: %+v, %v: %s", what, a, err, l.log.String())
		}
	}
	token := site.IDToken(t, "7", secret, map[string]any{"exp": time.Now().Add(time.Hour).Unix()})
	l.pass(9 * time.Minute)
	if _, err := l.Providers.Verify(t.Context(), token, secret); err != nil {
		t.Errorf("after nine minutes: %v", err)
	}
	l.pass(2 * time.Minute)
	if _, err := l.Providers.Verify(t.Context(), token, secret); !errors.Is(err, social.ErrBadIDToken) {
		t.Errorf("after eleven minutes: %v", err)
	}
}

// TestBadIDTokens sends each kind of bad ID token, and looks for what they say in the log.
func TestBadIDTokens(t *testing.T) {
	t.Parallel()
	site, key := issuertest.New(t), issuertest.NewKey(t, "key")
	site.Sign(key)
	l := newLobby(site, issuer.Provider{Issuer: site.URL, ClientID: issuertest.Audience})
	for what, token := range issuertest.BadIDTokens(t, site, key, secret) {
		if a, err := l.Providers.Verify(t.Context(), token, secret); !errors.Is(err, social.ErrBadIDToken) || a != (social.Assertion{}) {
			t.Errorf("%s: %+v, %v", what, a, err)
		}
	}
	for _, said := range []string{"ada", "mallory", secret, issuer.NonceOf(secret)} {
		if strings.Contains(l.log.String(), said) {
			t.Errorf("%q is in the log: %s", said, l.log.String())
		}
	}
}

// TestSecrets: a secret that can be guessed is refused, and so is every token where there is no
// provider, before the provider is asked for its keys.
func TestSecrets(t *testing.T) {
	t.Parallel()
	site := issuertest.New(t)
	l := newLobby(site, issuer.Provider{Issuer: site.URL, ClientID: issuertest.Audience})
	for secret, code := range map[string]fault.Code{
		"": fault.CodeBlank, "a nonce of 31 characters......": fault.CodeInvalid, strings.Repeat("x", 256): fault.CodeTooLong,
		strings.Repeat("x", 31) + "\x00": fault.CodeInvalid,
	} {
		_, err := l.Providers.Verify(t.Context(), site.IDToken(t, "7", secret, nil), secret)
		if refused, ok := errors.AsType[*fault.Error](err); !ok || refused.Code != code || refused.Field != "nonce" {
			t.Errorf("%q: %v", secret, err)
		}
	}
	_, err := newLobby(site).Providers.Verify(t.Context(), site.IDToken(t, "7", secret, nil), secret)
	if refused, ok := errors.AsType[*fault.Error](err); !ok || refused.Code != fault.CodeNotAllowed {
		t.Errorf("without a provider: %v", err)
	}
	if fetches := site.Fetches.Load(); fetches > 0 {
		t.Errorf("the keys were read %d times", fetches)
	}
}
