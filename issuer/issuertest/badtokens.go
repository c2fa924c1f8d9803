package issuertest

import (
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// BadTokens are tokens that no server may accept; key is one of the site's.
func BadTokens(t testing.TB, site *Site, key jose.JSONWebKey) map[string]string {
	t.Helper()
	signed := func(changes map[string]any) string { return SignedBy(t, key, site.Claims("ada", changes)) }
	raw := func(header, claims string) string {
		return encode(header) + "." + encode(claims) + "." + encode("signature")
	}
	claims, err := json.Marshal(site.Claims("ada", nil))
	if err != nil {
		t.Fatal(err)
	}
	foreign := NewKey(t, "key")
	unknown := NewKey(t, "unknown")
	now := time.Now()
	good := signed(nil)
	parts := strings.Split(good, ".")
	tokens := map[string]string{
		"alg none":                     encode(`{"alg":"none"}`) + "." + encode(string(claims)) + ".",
		"alg None, with a signature":   raw(`{"alg":"None","kid":"key"}`, string(claims)),
		"no alg":                       raw(`{"kid":"key"}`, string(claims)),
		"a foreign key":                SignedBy(t, foreign, site.Claims("mallory", nil)),
		"an unknown key":               SignedBy(t, unknown, site.Claims("mallory", nil)),
		"a key in the header":          embedded(t, foreign, site.Claims("mallory", nil)),
		"another's signature":          parts[0] + "." + encode(strings.Replace(string(claims), "ada", "mallory", 1)) + "." + parts[2],
		"no signature":                 parts[0] + "." + parts[1] + ".",
		"two parts":                    parts[0] + "." + parts[1],
		"five parts":                   good + ".x.y",
		"expired":                      signed(map[string]any{"iat": now.Add(-time.Hour).Unix(), "exp": now.Add(-time.Minute).Unix()}),
		"without an end":               signed(map[string]any{"exp": nil}),
		"an end that is no number":     signed(map[string]any{"exp": "tomorrow"}),
		"an end beyond all times":      signed(map[string]any{"exp": 1e300}),
		"an end in the year 10000":     signed(map[string]any{"exp": 253_402_300_800}),
		"a negative end":               signed(map[string]any{"exp": -1}),
		"not yet valid":                signed(map[string]any{"nbf": now.Add(time.Minute).Unix()}),
		"issued in the future":         signed(map[string]any{"iat": now.Add(time.Minute).Unix()}),
		"another issuer":               signed(map[string]any{"iss": site.URL + "/"}),
		"no issuer":                    signed(map[string]any{"iss": nil}),
		"another audience":             signed(map[string]any{"aud": "plaza2"}),
		"other audiences":              signed(map[string]any{"aud": []string{"x", "y"}}),
		"no audience":                  signed(map[string]any{"aud": nil}),
		"an empty audience":            signed(map[string]any{"aud": ""}),
		"no subject":                   signed(map[string]any{"sub": nil}),
		"an empty subject":             signed(map[string]any{"sub": ""}),
		"a subject of spaces":          signed(map[string]any{"sub": "  "}),
		"a subject that is a number":   signed(map[string]any{"sub": 7}),
		"a long subject":               signed(map[string]any{"sub": strings.Repeat("x", 256)}),
		"NUL in the subject":           signed(map[string]any{"sub": "ada\x00"}),
		"half a surrogate pair as sub": signText(t, key, strings.Replace(string(claims), `"ada"`, `"\ud800x"`, 1)),
		"a subject that is not UTF-8":  signText(t, key, strings.Replace(string(claims), `"ada"`, "\"\xffx\"", 1)),
		"U+FFFD in the subject":        signed(map[string]any{"sub": "\ufffdx"}),
		"a newline in the subject":     signed(map[string]any{"sub": "ada\n"}),
		"NUL in the handle":            signed(map[string]any{"preferred_username": "ada\x00"}),
		"a newline in the handle":      signed(map[string]any{"preferred_username": "ada\nroot"}),
		"a newline in the name":        signed(map[string]any{"name": "ada\r\nX-Header: 1"}),
		"NUL in the picture's address": signed(map[string]any{"picture": "https://example.org/\x00"}),
		"a handle that is an object":   signed(map[string]any{"preferred_username": map[string]string{"x": "y"}}),
		"a huge token":                 signed(map[string]any{"x": strings.Repeat("x", 8<<10)}),
		"dots":                         "..",
		"one dot":                      ".",
		"garbage":                      "!!!.???.***",
		"NUL":                          "\x00.\x00.\x00",
		"claims that are a list":       signText(t, key, `["x"]`),
		"a claim twice":                signText(t, key, `{"sub":"mallory",`+string(claims)[1:]),
	}
	for _, algorithm := range []jose.SignatureAlgorithm{jose.HS256, jose.HS512} {
		for form, secret := range publicForms(t, key) {
			hmac := jose.JSONWebKey{Key: secret, KeyID: "key", Algorithm: string(algorithm)}
			tokens[fmt.Sprintf("%s with the public key as %s", algorithm, form)] = SignedBy(t, hmac, site.Claims("mallory", nil))
		}
	}
	return tokens
}

func encode(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }

// embedded is a token whose header brings its key along.
func embedded(t testing.TB, key jose.JSONWebKey, claims any) string {
	t.Helper()
	key.KeyID = ""
	return signWith(t, key, &jose.SignerOptions{EmbedJWK: true}, asJSON(t, claims))
}

func asJSON(t testing.TB, claims any) []byte {
	t.Helper()
	text, err := json.Marshal(claims)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// signText signs claims that may not be an object.
func signText(t testing.TB, key jose.JSONWebKey, claims string) string {
	t.Helper()
	return signWith(t, key, nil, []byte(claims))
}

func signWith(t testing.TB, key jose.JSONWebKey, options *jose.SignerOptions, claims []byte) string {
	t.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: key}, options)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := signer.Sign(claims)
	if err != nil {
		t.Fatal(err)
	}
	token, err := signed.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// publicForms are forms of a key that an attacker can have.
func publicForms(t testing.TB, key jose.JSONWebKey) map[string][]byte {
	t.Helper()
	public := key.Public()
	asJSON, err := public.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	asDER, err := x509.MarshalPKIXPublicKey(public.Key)
	if err != nil {
		t.Fatal(err)
	}
	return map[string][]byte{"JWK": asJSON, "DER": asDER}
}
