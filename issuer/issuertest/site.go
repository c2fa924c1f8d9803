// Package issuertest is a site that issues tokens to its users, and an OpenID provider, for tests.
package issuertest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/rs/cors"

	"plaza/issuer"
)

// Audience is the audience of a Site's tokens.
const Audience = "plaza"

// Site publishes its openid-configuration and keys, and issues tokens.
type Site struct {
	URL string // also the issuer

	Fetches atomic.Int64 // of the keys
	Down    atomic.Bool  // answers 503

	mu      sync.Mutex
	keys    []jose.JSONWebKey // private; the last one signs
	publish func([]jose.JSONWebKey) any
}

// New starts a site with a key for ES256, until the test ends.
func New(t testing.TB) *Site {
	t.Helper()
	s := &Site{publish: func(public []jose.JSONWebKey) any { return jose.JSONWebKeySet{Keys: public} }}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]string{
			"issuer": s.URL, "jwks_uri": s.URL + "/keys", "authorization_endpoint": s.URL + "/authorize", "token_endpoint": s.URL + "/token",
		})
	})
	mux.HandleFunc("GET /keys", s.serveKeys)
	flow := &codeFlow{site: s, t: t, begun: map[string]url.Values{}}
	mux.HandleFunc("GET /authorize", flow.authorize)
	mux.HandleFunc("POST /token", flow.token)
	server := httptest.NewServer(cors.AllowAll().Handler(mux))
	t.Cleanup(server.Close)
	s.URL = server.URL
	s.Rotate(t, "first")
	return s
}

func (s *Site) serveKeys(w http.ResponseWriter, _ *http.Request) {
	s.Fetches.Add(1)
	if s.Down.Load() {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	public := make([]jose.JSONWebKey, len(s.keys))
	for i := range s.keys {
		public[i] = s.keys[i].Public()
	}
	text, err := json.Marshal(s.publish(public))
	if err != nil {
		panic(err) // a test publishes what is no JSON
	}
	_, _ = w.Write(text)
}

// Publish changes what the site answers instead of its JWKS.
func (s *Site) Publish(what func(public []jose.JSONWebKey) any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.publish = what
}

// Rotate adds a key, which signs from now on.
func (s *Site) Rotate(t testing.TB, id string) {
	t.Helper()
	s.Sign(NewKey(t, id))
}

// NewKey makes a private key for ES256.
func NewKey(t testing.TB, id string) jose.JSONWebKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return jose.JSONWebKey{Key: key, KeyID: id, Algorithm: string(jose.ES256), Use: "sig"}
}

// Sign adds a private key, which signs from now on, with the algorithm that it names.
func (s *Site) Sign(key jose.JSONWebKey) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keys = append(s.keys, key)
}

// Withdraw removes all keys but the last one.
func (s *Site) Withdraw() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keys = s.keys[len(s.keys)-1:]
}

// Options are what a verifier of the site's tokens needs.
func (s *Site) Options() issuer.Options {
	return issuer.Options{
		Issuer: s.URL, Audience: Audience, Algorithms: []string{"RS256", "PS256", "ES256", "EdDSA"},
		Claims: issuer.ClaimNames{Handle: "preferred_username", Name: "name", Avatar: "picture"},
	}
}

// Claims are those of a valid token of a user, issued now for ten minutes, with changes: nil removes a
// claim.
func (s *Site) Claims(subject string, changes map[string]any) map[string]any {
	now := time.Now()
	claims := map[string]any{
		"iss": s.URL, "aud": Audience, "sub": subject, "iat": now.Unix(), "exp": now.Add(10 * time.Minute).Unix(),
	}
	for name, value := range changes {
		if value == nil {
			delete(claims, name)
			continue
		}
		claims[name] = value
	}
	return claims
}

// Token is a token of a user, with changed claims.
func (s *Site) Token(t testing.TB, subject string, changes map[string]any) string {
	t.Helper()
	s.mu.Lock()
	key := s.keys[len(s.keys)-1]
	s.mu.Unlock()
	return SignedBy(t, key, s.Claims(subject, changes))
}

// IDToken is an ID token of a user for the sign-in that began with a secret, with changed claims.
func (s *Site) IDToken(t testing.TB, subject, secret string, changes map[string]any) string {
	t.Helper()
	claims := map[string]any{"nonce": issuer.NonceOf(secret)}
	maps.Copy(claims, changes)
	return s.Token(t, subject, claims)
}

// SignedBy signs claims with a private key, by the algorithm that it names.
func SignedBy(t testing.TB, key jose.JSONWebKey, claims any) string {
	t.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.SignatureAlgorithm(key.Algorithm), Key: key}, (&jose.SignerOptions{}).WithType("JWT"))
	if err != nil {
		t.Fatal(err)
	}
	token, err := jwt.Signed(signer).Claims(claims).Serialize()
	if err != nil {
		t.Fatal(err)
	}
	return token
}
