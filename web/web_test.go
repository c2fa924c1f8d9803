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

func TestIndex(t *testing.T) {
	h := GraphiQL(Config{})
	res := get(t, h, "/")
	if res.StatusCode != http.StatusOK {
		t.Fatalf("status %d", res.StatusCode)
	}
	for name, want := range map[string]string{
		"Content-Type":            "text/html; charset=utf-8",
		"Cache-Control":           "no-cache",
		"Content-Security-Policy": h.(*page).policy,
		"X-Content-Type-Options":  "nosniff",
	} {
		if got := res.Header.Get(name); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	etag := res.Header.Get("ETag")
	if res := get(t, h, "/", "If-None-Match", etag); etag == "" || res.StatusCode != http.StatusNotModified {
		t.Errorf("If-None-Match %s: got status %d, want 304", etag, res.StatusCode)
	}
}

// TestAssets: every file that the page refers to exists, is served from here, and may be cached
// forever.
func TestAssets(t *testing.T) {
	h := GraphiQL(Config{})
	index := body(t, get(t, h, "/").Body)
	refs := regexp.MustCompile(`(?:src|href)="([^"]+)"`).FindAllStringSubmatch(index, -1)
	if len(refs) < 3 {
		t.Fatalf("the index refers to %d files", len(refs))
	}
	for _, ref := range refs {
		if !strings.HasPrefix(ref[1], "/graphiql/assets/") {
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
	for path, f := range graphiqlFiles(Config{}) {
		if f.contentType == "" {
			t.Errorf("%s has no content type", path)
		}
		if strings.HasSuffix(path, ".map") {
			t.Errorf("%s: source maps are not shipped", path)
		}
	}
}

func TestGzip(t *testing.T) {
	h := GraphiQL(Config{})
	plain := body(t, get(t, h, "/graphiql/licenses.md").Body)
	res := get(t, h, "/graphiql/licenses.md", "Accept-Encoding", "gzip")
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
		if got := get(t, h, "/graphiql/licenses.md", "Accept-Encoding", accept).Header.Get("Content-Encoding"); got != want {
			t.Errorf("Accept-Encoding %s: Content-Encoding %q, want %q", accept, got, want)
		}
	}
	etag := res.Header.Get("ETag")
	res = get(t, h, "/graphiql/licenses.md", "Accept-Encoding", "gzip", "If-None-Match", etag)
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
	} {
		res := get(t, GraphiQL(test.config), "/graphiql/config.json")
		if got := body(t, res.Body); got != test.want {
			t.Errorf("got %s, want %s", got, test.want)
		}
		if got := res.Header.Get("Content-Type"); got != "application/json" {
			t.Errorf("Content-Type %q", got)
		}
		if got := res.Header.Get("Cache-Control"); got != "no-store" {
			t.Errorf("Cache-Control %q", got)
		}
	}
}

func TestRefusals(t *testing.T) {
	h := GraphiQL(Config{})
	for _, path := range []string{"/nothing", "/index.html", "/graphiql/", "/graphiql/assets", "/graphiql/assets/", "/graphiql/assets/../index.html", "/web.go"} {
		if res := get(t, h, path); res.StatusCode != http.StatusNotFound {
			t.Errorf("GET %s: got status %d, want 404", path, res.StatusCode)
		}
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/", nil))
	if w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != "GET, HEAD" {
		t.Errorf("POST /: got status %d, Allow %q", w.Code, w.Header().Get("Allow"))
	}
}
