package issuer

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// TestNoWayWithoutTLS: an issuer with TLS cannot lead to keys without.
func TestNoWayWithoutTLS(t *testing.T) {
	t.Parallel()
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"keys":[]}`))
	}))
	t.Cleanup(plain.Close)
	const noTLS, noKey = "which has no TLS", "has no key"
	for what, c := range map[string]struct{ keysAt, redirectsTo, want string }{
		"a jwks_uri without TLS":                {"http://site.example/keys", "", noTLS},
		"a jwks_uri that is a file":             {"file:///etc/keys", "", noTLS},
		"a redirect to one without TLS":         {"/moved", "http://site.example/keys", noTLS},
		"a redirect that never ends":            {"/moved", "/moved", "more than 10 redirects"},
		"a jwks_uri on this machine":            {plain.URL, "", noKey},
		"a redirect to an address on this one":  {"/moved", plain.URL, noKey},
		"a redirect to another address with it": {"/moved", "/keys", noKey},
	} {
		if err := readAll(t, c.keysAt, c.redirectsTo); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// readAll reads the keys of an issuer with TLS, whose jwks_uri is keysAt; /moved is redirected.
func readAll(t *testing.T, keysAt, redirectsTo string) error {
	t.Helper()
	mux := http.NewServeMux()
	site := httptest.NewTLSServer(mux)
	t.Cleanup(site.Close)
	if strings.HasPrefix(keysAt, "/") {
		keysAt = site.URL + keysAt
	}
	mux.HandleFunc("/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]string{"issuer": site.URL, "jwks_uri": keysAt})
	})
	mux.HandleFunc("/keys", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"keys":[]}`)) })
	mux.HandleFunc("/moved", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, redirectsTo, http.StatusFound) })
	client := newClient()
	client.Transport = site.Client().Transport
	k := &keys{issuer: site.URL, client: client, now: time.Now, logger: slog.New(slog.DiscardHandler)}
	_, err := k.read(t.Context())
	return err
}
