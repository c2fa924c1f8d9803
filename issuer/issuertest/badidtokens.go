package issuertest

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"plaza/issuer"
)

// BadIDTokens are ID tokens for which no server may sign anyone in who brings a secret; key is one
// of the site's.
func BadIDTokens(t testing.TB, site *Site, key jose.JSONWebKey, secret string) map[string]string {
	t.Helper()
	tokens := BadTokens(t, site, key) // they have no nonce, so the most important ones follow again, with one
	signed := func(changes map[string]any) string {
		claims := map[string]any{"nonce": issuer.NonceOf(secret)}
		maps.Copy(claims, changes)
		return SignedBy(t, key, site.Claims("ada", claims))
	}
	now := time.Now()
	several := []string{Audience, "other"}
	withNonce := site.Claims("mallory", map[string]any{"nonce": issuer.NonceOf(secret)})
	maps.Copy(tokens, map[string]string{
		"no nonce":                          signed(map[string]any{"nonce": nil}),
		"an empty nonce":                    signed(map[string]any{"nonce": ""}),
		"another nonce":                     signed(map[string]any{"nonce": issuer.NonceOf("another secret")}),
		"the secret as nonce":               signed(map[string]any{"nonce": secret}),
		"a nonce that is a list":            signed(map[string]any{"nonce": []string{issuer.NonceOf(secret)}}),
		"several audiences without azp":     signed(map[string]any{"aud": several}),
		"several audiences, another client": signed(map[string]any{"aud": several, "azp": "other"}),
		"another client":                    signed(map[string]any{"azp": "other"}),
		"a client that is a list":           signed(map[string]any{"azp": []string{Audience}}),
		"an audience that is not ours":      signed(map[string]any{"aud": "other"}),
		"the azp alone":                     signed(map[string]any{"aud": "other", "azp": Audience}),
		"an issuer that is not ours":        signed(map[string]any{"iss": "https://id.example"}),
		"no time of issue":                  signed(map[string]any{"iat": nil}),
		"issued long ago":                   signed(map[string]any{"iat": now.Add(-11 * time.Minute).Unix(), "exp": now.Add(time.Hour).Unix()}),
		"issued later":                      signed(map[string]any{"iat": now.Add(time.Minute).Unix(), "exp": now.Add(time.Hour).Unix()}),
		"expired, with a nonce":             signed(map[string]any{"iat": now.Add(-5 * time.Minute).Unix(), "exp": now.Add(-time.Minute).Unix()}),
		"alg none, with a nonce":            encode(`{"alg":"none"}`) + "." + encode(string(asJSON(t, withNonce))) + ".",
		"huge, with a nonce":                signed(map[string]any{"x": strings.Repeat("x", 8<<10)}),
		"by a foreign key, with a nonce":    SignedBy(t, NewKey(t, key.KeyID), withNonce),
		"by an unknown key, with a nonce":   SignedBy(t, NewKey(t, "unknown"), withNonce),
		"an access token by its type":       typed(t, key, "at+jwt", site.Claims("ada", map[string]any{"nonce": issuer.NonceOf(secret)})),
		"a logout token by its type":        typed(t, key, "logout+jwt", site.Claims("ada", map[string]any{"nonce": issuer.NonceOf(secret)})),
	})
	for form, public := range publicForms(t, key) {
		tokens["HS256 with the public key as "+form+", with a nonce"] = SignedBy(t, jose.JSONWebKey{Key: public, KeyID: "key", Algorithm: "HS256"}, withNonce)
	}
	return tokens
}

// typed is a token whose header has a type.
func typed(t testing.TB, key jose.JSONWebKey, kind string, claims map[string]any) string {
	t.Helper()
	return signWith(t, key, (&jose.SignerOptions{}).WithType(jose.ContentType(kind)), asJSON(t, claims))
}
