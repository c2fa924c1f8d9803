package api

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/gorilla/websocket"

	"plaza/internal/plazatest"
)

// ownPages are the headers by which browsers name pages that may use the cookie, and those of a
// client that is not a browser.
var ownPages = map[string]http.Header{
	"no browser":          {},
	"the same origin":     {"Sec-Fetch-Site": {"same-origin"}, "Origin": {"https://plaza.test"}},
	"the public URL":      {"Origin": {"https://plaza.test"}},
	"an allowed origin":   {"Sec-Fetch-Site": {"same-site"}, "Origin": {"https://app.plaza.test"}},
	"the address bar":     {"Sec-Fetch-Site": {"none"}},
	"another allowed one": {"Sec-Fetch-Site": {"cross-site"}, "Origin": {"http://localhost:5173"}},
}

// foreignPages are those of all others.
var foreignPages = map[string]http.Header{
	"another site":               {"Sec-Fetch-Site": {"cross-site"}, "Origin": {"https://evil.test"}},
	"another site without a CSP": {"Sec-Fetch-Site": {"cross-site"}},
	"a neighbour":                {"Sec-Fetch-Site": {"same-site"}, "Origin": {"https://evil.plaza.test"}},
	"an older browser":           {"Origin": {"https://evil.test"}},
	"the same host by http":      {"Origin": {"http://plaza.test"}},
	"a sandboxed page":           {"Origin": {"null"}},
}

// TestCookies signs in by a cookie, which counts only for pages that may use it.
func TestCookies(t *testing.T) {
	t.Parallel()
	plaza := plazatest.ServeAt(t, plazatest.Engines[0].Open(t), "https://plaza.test", "https://app.plaza.test", "http://localhost:5173", "null")
	ada := plaza.As(t, "ada")
	b := &browser{t: t, plaza: plaza}
	status, set := b.send(http.MethodPost, "/session", "", http.Header{"Authorization": {"Bearer " + ada.Token}})
	if status != http.StatusNoContent || len(set) != 1 {
		t.Fatalf("a cookie was asked for: %d, %v", status, set)
	}
	b.cookie = set[0]
	if c := b.cookie; c.Name != "__Host-plaza-session" || !c.HttpOnly || !c.Secure || c.SameSite != http.SameSiteStrictMode || c.Path != "/" || c.Domain != "" || c.MaxAge <= 0 {
		t.Errorf("cookie %+v", c)
	}
	for page, header := range ownPages {
		b.check(page, header, true)
	}
	for page, header := range foreignPages {
		b.check(page, header, false)
		if status, set := b.send(http.MethodDelete, "/session", "", header); status != http.StatusForbidden || len(set) != 0 {
			t.Errorf("%s ends the session: %d, %v", page, status, set)
		}
	}
	if got := b.viewer(http.Header{"Authorization": {"Bearer x"}}); !strings.Contains(got, "UNAUTHENTICATED") {
		t.Errorf("beside the cookie, a wrong token: %s", got)
	}
	for i := range 2 {
		status, set := b.send(http.MethodDelete, "/session", "", nil)
		if status != http.StatusNoContent || len(set) != 1 || set[0].Value != "" || set[0].MaxAge >= 0 || set[0].Name != b.cookie.Name {
			t.Errorf("sign-out %d: %d, %v", i, status, set)
		}
	}
	if got := b.viewer(nil); !strings.Contains(got, "UNAUTHENTICATED") {
		t.Errorf("the session has ended: %s", got)
	}
}

// TestSignOutBesideAToken: whatever token a page sends along, the session of the cookie that it loses
// has ended.
func TestSignOutBesideAToken(t *testing.T) {
	t.Parallel()
	plaza := plazatest.Start(t, plazatest.Engines[0])
	other := plaza.As(t, "bob")
	for handle, token := range map[string]string{"ada": "of no session", "cyd": other.Token} {
		b := &browser{t: t, plaza: plaza, cookie: &http.Cookie{Name: "plaza-session", Value: plaza.As(t, handle).Token}}
		if status, set := b.send(http.MethodDelete, "/session", "", http.Header{"Authorization": {"Bearer " + token}}); status != http.StatusNoContent || len(set) != 1 {
			t.Errorf("%s signs out: %d, %v", handle, status, set)
		}
		if got := b.viewer(nil); !strings.Contains(got, "UNAUTHENTICATED") {
			t.Errorf("the session of the cookie goes on: %s", got)
		}
	}
	if got := (&browser{t: t, plaza: plaza}).viewer(http.Header{"Authorization": {"Bearer " + other.Token}}); !strings.Contains(got, "UNAUTHENTICATED") {
		t.Errorf("the session of the token goes on: %s", got)
	}
}

// TestCookiesAreRefused names what gets no cookie.
func TestCookiesAreRefused(t *testing.T) {
	t.Parallel()
	plaza := plazatest.Start(t, plazatest.Engines[0])
	ada := plaza.As(t, "ada")
	var created struct {
		CreateAccessToken struct{ Token string }
	}
	ada.Do(t, `mutation { createAccessToken(input: {name: "robot", scopes: [WRITE_POSTS]}) { token } }`, nil, &created)
	b := &browser{t: t, plaza: plaza}
	for what, c := range map[string]struct {
		method string
		header http.Header
		status int
	}{
		"no token":        {http.MethodPost, nil, http.StatusUnauthorized},
		"a wrong token":   {http.MethodPost, http.Header{"Authorization": {"Bearer x"}}, http.StatusUnauthorized},
		"another scheme":  {http.MethodPost, http.Header{"Authorization": {"Basic x"}}, http.StatusUnauthorized},
		"an access token": {http.MethodPost, http.Header{"Authorization": {"Bearer " + created.CreateAccessToken.Token}}, http.StatusForbidden},
		"a foreign page":  {http.MethodPost, http.Header{"Authorization": {"Bearer " + ada.Token}, "Origin": {"https://evil.test"}}, http.StatusForbidden},
		"a GET":           {http.MethodGet, http.Header{"Authorization": {"Bearer " + ada.Token}}, http.StatusMethodNotAllowed},
	} {
		if status, set := b.send(c.method, "/session", "", c.header); status != c.status || len(set) != 0 {
			t.Errorf("%s: %d, %v, want %d", what, status, set, c.status)
		}
	}
	if status, set := b.send(http.MethodPost, "/session", "", http.Header{"Authorization": {"Bearer " + ada.Token}}); status != http.StatusNoContent || set[0].Secure || set[0].Name != "plaza-session" {
		t.Errorf("without TLS: %d, %v", status, set)
	}
}

// TestCookiesWithTokensOfAnotherSite: the site ends its tokens, but a browser can give the cookie
// back.
func TestCookiesWithTokensOfAnotherSite(t *testing.T) {
	t.Parallel()
	w := serveTrusting(t, plazatest.Engines[0])
	token := http.Header{"Authorization": {"Bearer " + w.with(t, "ada", map[string]any{"preferred_username": "ada"}).Token}}
	b := &browser{t: t, plaza: w.Plaza}
	status, set := b.send(http.MethodPost, "/session", "", token)
	if status != http.StatusNoContent || len(set) != 1 {
		t.Fatalf("a cookie was asked for: %d, %v", status, set)
	}
	b.cookie = set[0]
	b.check("its page", nil, true)
	status, set = b.send(http.MethodDelete, "/session", "", nil)
	if status != http.StatusNoContent || len(set) != 1 || set[0].MaxAge >= 0 || set[0].Name != b.cookie.Name {
		t.Errorf("the cookie is removed: %d, %v", status, set)
	}
	b.cookie = nil
	long := http.Header{"Authorization": {"Bearer " + w.with(t, "ben", map[string]any{"groups": strings.Repeat("x", 3800)}).Token}}
	if status, set := b.send(http.MethodPost, "/session", "", long); status != http.StatusForbidden || len(set) != 0 {
		t.Errorf("a token that browsers would not keep: %d, %v", status, set)
	}
	if got := b.viewer(token); !strings.Contains(got, `"ada"`) {
		t.Errorf("the token of the site afterwards: %s", got)
	}
}

// TestCookiesOfForeignPagesAreNotShared: pages of other origins can send cookies only if they are
// named; caches keep what is signed out apart from what is signed in.
func TestCookiesOfForeignPagesAreNotShared(t *testing.T) {
	t.Parallel()
	named := plazatest.ServeAt(t, plazatest.Engines[0].Open(t), "https://plaza.test", "https://app.plaza.test")
	all := plazatest.Start(t, plazatest.Engines[0])
	for plaza, want := range map[*plazatest.Plaza]string{named: "true", all: ""} {
		b := &browser{t: t, plaza: plaza}
		response := b.do(http.MethodGet, "/graphql?query="+url.QueryEscape("{__typename}"), "", http.Header{"Origin": {"https://app.plaza.test"}})
		_ = response.Body.Close()
		if got := response.Header.Get("Access-Control-Allow-Credentials"); got != want {
			t.Errorf("credentials: %q, want %q", got, want)
		}
		if vary := strings.Join(response.Header.Values("Vary"), ","); !strings.Contains(vary, "Cookie") {
			t.Errorf("Vary: %s", vary)
		}
	}
	ada := named.As(t, "ada")
	b := &browser{t: t, plaza: named, cookie: &http.Cookie{Name: "__Host-plaza-session", Value: ada.Token}}
	foreign := b.do(http.MethodGet, "/graphql?query="+url.QueryEscape("{ viewer { id } }"), "", foreignPages["another site without a CSP"])
	_ = foreign.Body.Close()
	if vary := strings.Join(foreign.Header.Values("Vary"), ","); foreign.Header.Get("ETag") == "" || !strings.Contains(vary, "Sec-Fetch-Site") {
		t.Errorf("a foreign page's answer, which caches keep, varies by %s", vary)
	}
}

// browser sends requests, with a cookie once it has one.
type browser struct {
	t      *testing.T
	plaza  *plazatest.Plaza
	cookie *http.Cookie
}

func (b *browser) do(method, path, body string, header http.Header) *http.Response {
	b.t.Helper()
	request, err := http.NewRequestWithContext(b.t.Context(), method, b.plaza.URL+path, strings.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	request.Header = b.headers(header)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		b.t.Fatal(err)
	}
	return response
}

func (b *browser) headers(header http.Header) http.Header {
	all := header.Clone()
	if all == nil {
		all = http.Header{}
	}
	if b.cookie != nil {
		all.Set("Cookie", b.cookie.Name+"="+b.cookie.Value)
	}
	return all
}

func (b *browser) send(method, path, body string, header http.Header) (status int, set []*http.Cookie) {
	b.t.Helper()
	response := b.do(method, path, body, header)
	defer func() { _ = response.Body.Close() }()
	if _, err := io.Copy(io.Discard, response.Body); err != nil { // an export ends before the next begins
		b.t.Fatal(err)
	}
	return response.StatusCode, response.Cookies()
}

const askViewer = `{"query":"{ viewer { user { handle } } }"}`

// viewer asks who is signed in.
func (b *browser) viewer(header http.Header) string {
	b.t.Helper()
	response := b.do(http.MethodPost, "/graphql", askViewer, header)
	defer func() { _ = response.Body.Close() }()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return string(answer)
}

// check sends a page's requests over HTTP and a websocket, and reads its exports.
func (b *browser) check(page string, header http.Header, signedIn bool) {
	b.t.Helper()
	if got := b.viewer(header); strings.Contains(got, `"ada"`) != signedIn {
		b.t.Errorf("%s, over HTTP: %s", page, got)
	}
	if got := b.viewerBySocket(header); strings.Contains(got, `"ada"`) != signedIn {
		b.t.Errorf("%s, over a websocket: %s", page, got)
	}
	for _, export := range []string{"/export", "/export/comments"} {
		if status, _ := b.send(http.MethodGet, export, "", header); (status == http.StatusOK) != signedIn {
			b.t.Errorf("%s, %s: %d", page, export, status)
		}
	}
}

// viewerBySocket returns "" if no websocket is opened.
func (b *browser) viewerBySocket(header http.Header) string {
	b.t.Helper()
	dialer := websocket.Dialer{Subprotocols: []string{"graphql-transport-ws"}}
	conn, response, err := dialer.DialContext(b.t.Context(), "ws"+strings.TrimPrefix(b.plaza.URL, "http")+"/graphql", b.headers(header))
	if err != nil {
		return ""
	}
	defer func() { _ = conn.Close() }()
	_ = response.Body.Close()
	for _, message := range []string{`{"type":"connection_init"}`, `{"id":"1","type":"subscribe","payload":` + askViewer + `}`} {
		if err := conn.WriteMessage(websocket.TextMessage, []byte(message)); err != nil {
			b.t.Fatal(err)
		}
	}
	var answer []byte
	for range 2 { // connection_ack and next
		if _, answer, err = conn.ReadMessage(); err != nil {
			b.t.Fatal(err)
		}
	}
	return string(answer)
}
