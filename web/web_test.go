package web

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
)

// get asks the handler for a path, with header names and values in turn.
func get(t *testing.T, h http.Handler, path string, header ...string) *http.Response {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, path, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

func body(t *testing.T, r io.Reader) string {
	t.Helper()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// pages are the handlers of both pages, by the path of their index.html.
func pages(config Config) map[string]http.Handler {
	return map[string]http.Handler{GraphiQLPath: GraphiQL(config), AppPath: App(config)}
}

func TestIndex(t *testing.T) {
	for path, h := range pages(Config{}) {
		checkIndex(t, h, path)
	}
}

// TestRoutesOfTheApp: the app's own routes are its index.html, also those with a dot.
func TestRoutesOfTheApp(t *testing.T) {
	h := App(Config{})
	index := body(t, get(t, h, AppPath).Body)
	for _, path := range []string{"/app/people/ada", "/app/post/post_1/comment/a.b", "/app/nothing", "/app/assets"} {
		checkIndex(t, h, path)
		if got := body(t, get(t, h, path).Body); got != index {
			t.Errorf("%s answers %.80s", path, got)
		}
	}
}

func checkIndex(t *testing.T, h http.Handler, path string) {
	t.Helper()
	res := get(t, h, path)
	if res.StatusCode != http.StatusOK {
		t.Fatalf("%s: status %d", path, res.StatusCode)
	}
	for name, want := range map[string]string{
		"Content-Type":            "text/html; charset=utf-8",
		"Cache-Control":           "no-cache",
		"Referrer-Policy":         "no-referrer",
		"Content-Security-Policy": h.(*page).policy,
		"X-Content-Type-Options":  "nosniff",
	} {
		if got := res.Header.Get(name); got != want {
			t.Errorf("%s: %s: got %q, want %q", path, name, got, want)
		}
	}
	etag := res.Header.Get("ETag")
	if res := get(t, h, path, "If-None-Match", etag); etag == "" || res.StatusCode != http.StatusNotModified {
		t.Errorf("%s: If-None-Match %s: got status %d, want 304", path, etag, res.StatusCode)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodHead, path, nil))
	if w.Code != http.StatusOK || w.Body.Len() > 0 || w.Header().Get("ETag") != etag {
		t.Errorf("HEAD %s: status %d, %d bytes, ETag %q", path, w.Code, w.Body.Len(), w.Header().Get("ETag"))
	}
}

// TestPolicies: no page runs scripts from elsewhere or inline, and the app has no inline styles.
func TestPolicies(t *testing.T) {
	for path, h := range pages(Config{}) {
		policy := h.(*page).policy
		if !strings.Contains(policy, "script-src 'self';") || strings.Contains(policy, "unsafe-eval") {
			t.Errorf("%s: %s", path, policy)
		}
		if path == AppPath && strings.Contains(policy, "unsafe") {
			t.Errorf("%s: %s", path, policy)
		}
	}
}

// TestProvidersInPolicies: only the app sends requests to OpenID providers.
func TestProvidersInPolicies(t *testing.T) {
	for path, h := range pages(Config{Providers: []string{"https://id.example", "https://login.example:8443"}}) {
		policy := h.(*page).policy
		if strings.Contains(policy, "; connect-src 'self' ws: wss: https://id.example https://login.example:8443; ") != (path == AppPath) {
			t.Errorf("%s: %s", path, policy)
		}
	}
}

// TestAssets: every file that a page refers to exists, is served from here, and may be cached
// forever.
func TestAssets(t *testing.T) {
	for path, h := range pages(Config{}) {
		index := body(t, get(t, h, path).Body)
		refs := regexp.MustCompile(`(?:src|href)="([^"]+)"`).FindAllStringSubmatch(index, -1)
		if len(refs) < 3 {
			t.Fatalf("%s refers to %d files", path, len(refs))
		}
		for _, ref := range refs {
			if !regexp.MustCompile(`^/(graphiql|app)/assets/`).MatchString(ref[1]) {
				t.Errorf("%s is not an asset", ref[1])
				continue
			}
			res := get(t, h, ref[1])
			if res.StatusCode != http.StatusOK {
				t.Errorf("%s: status %d", ref[1], res.StatusCode)
			}
			if got := res.Header.Get("Cache-Control"); !strings.Contains(got, "immutable") {
				t.Errorf("%s: Cache-Control %q", ref[1], got)
			}
		}
		for path, f := range h.(*page).files {
			if f.contentType == "" {
				t.Errorf("%s has no content type", path)
			}
			if strings.HasSuffix(path, ".map") {
				t.Errorf("%s: source maps are not shipped", path)
			}
		}
	}
}

func TestGzip(t *testing.T) {
	checkGzip(t, GraphiQL(Config{}), "/graphiql/licenses.md")
	checkGzip(t, App(Config{}), "/app/licenses.md")
}

func checkGzip(t *testing.T, h http.Handler, path string) {
	t.Helper()
	plain := body(t, get(t, h, path).Body)
	res := get(t, h, path, "Accept-Encoding", "gzip")
	if got := res.Header.Get("Content-Encoding"); got != "gzip" {
		t.Fatalf("Content-Encoding %q", got)
	}
	r, err := gzip.NewReader(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	if body(t, r) != plain {
		t.Error("the compressed answer differs from the plain one")
	}
	if got := res.Header.Get("Vary"); got != "Accept-Encoding" {
		t.Errorf("Vary %q", got)
	}
	for accept, want := range map[string]string{
		"br, gzip;q=0.5": "gzip", "GZIP": "gzip", "gzip;q=0": "", "gzip; q=0.000, br": "", "br": "", "*": "", "x-gzip": "",
	} {
		if got := get(t, h, path, "Accept-Encoding", accept).Header.Get("Content-Encoding"); got != want {
			t.Errorf("Accept-Encoding %s: Content-Encoding %q, want %q", accept, got, want)
		}
	}
	etag := res.Header.Get("ETag")
	res = get(t, h, path, "Accept-Encoding", "gzip", "If-None-Match", etag)
	if res.StatusCode != http.StatusNotModified {
		t.Errorf("If-None-Match %s: got status %d, want 304", etag, res.StatusCode)
	}
}

func TestConfig(t *testing.T) {
	for _, test := range []struct {
		config Config
		want   string
	}{
		{Config{}, `{"demo":null}`},
		{Config{Demo: &Demo{Handle: "ada", Password: "secret", Threads: []string{"post_1"}}}, `{"demo":{"handle":"ada","password":"secret","threads":["post_1"]}}`},
		{Config{App: AppPath, GraphiQL: GraphiQLPath, MembersOnly: true}, `{"demo":null,"app":"/app/","graphiql":"/","membersOnly":true}`},
		{Config{Mail: true, Providers: []string{"https://id.example"}}, `{"demo":null,"mail":true}`},
	} {
		for path, h := range map[string]http.Handler{"/graphiql/config.json": GraphiQL(test.config), "/app/config.json": App(test.config)} {
			res := get(t, h, path)
			if got := body(t, res.Body); got != test.want {
				t.Errorf("%s: got %s, want %s", path, got, test.want)
			}
			if got := res.Header.Get("Content-Type"); got != "application/json" {
				t.Errorf("%s: Content-Type %q", path, got)
			}
			if got := res.Header.Get("Cache-Control"); got != "no-store" {
				t.Errorf("%s: Cache-Control %q", path, got)
			}
		}
	}
}

func TestRefusals(t *testing.T) {
	missing := map[string][]string{
		GraphiQLPath: {"/nothing", "/index.html", "/graphiql/", "/graphiql/assets", "/graphiql/assets/", "/graphiql/assets/../index.html", "/web.go", "/app/"},
		AppPath:      {"/", "/nothing", "/app", "/app/assets/", "/app/assets/missing.js", "/web.go"},
	}
	for index, h := range pages(Config{}) {
		for _, path := range missing[index] {
			if res := get(t, h, path); res.StatusCode != http.StatusNotFound {
				t.Errorf("GET %s: got status %d, want 404", path, res.StatusCode)
			}
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodPost, index, nil))
		if w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != "GET, HEAD" {
			t.Errorf("POST %s: got status %d, Allow %q", index, w.Code, w.Header().Get("Allow"))
		}
	}
}
