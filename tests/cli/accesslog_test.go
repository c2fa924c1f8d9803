package cli

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"plaza/internal/plazatest"
)

const (
	secretPassword = "correct-horse-battery"
	secretText     = "surprise-party-on-friday"
	secretToken    = "token-that-leaked"
)

// TestAccessLog uses a server in many ways, and reads its log: each request and each operation is
// there, with its code and its viewer, and without any password, token or text.
func TestAccessLog(t *testing.T) {
	t.Parallel()
	server := plazatest.StartProcess(t, "--access-log=on", "--slow-operation=1ns", "--drain-delay=0s")
	anyone := plazatest.Person{URL: server.URL(t)}
	ada := signedUp(t, anyone)
	run(t, ada, `mutation Write($in: CreatePostInput!) { createPost(input: $in) { post { id } userErrors { code } } }`,
		map[string]any{"in": map[string]any{"audience": map[string]any{"kind": "PUBLIC"}, "content": map[string]any{"status": map[string]any{"text": secretText}}}})
	run(t, anyone, `{ viewer { user { handle } } `, nil)
	socket := ada.Connect(t)
	socket.Send("1", "subscribe", map[string]string{"query": `query OnSocket { viewer { user { handle } } }`})
	if m := socket.Next(); m.Type != "next" {
		t.Errorf("want next, got %+v", m)
	}
	if m := socket.Next(); m.Type != "complete" {
		t.Errorf("want complete, got %+v", m)
	}
	socket.Send("2", "subscribe", map[string]string{"query": `query Misspelt { vewer { id } }`})
	if m := socket.Next(); m.Type != "error" {
		t.Errorf("want error, got %+v", m)
	}
	get(t, anyone.URL+"/graphql?query="+url.QueryEscape(`query Got($h: String!) { user(handle: $h) { name } }`)+"&variables="+url.QueryEscape(`{"h":"`+secretText+`"}`),
		"X-Request-Id", "from-the-proxy", "Traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	get(t, anyone.URL+"/ads/click/"+secretToken, "X-Request-Id", "two words")
	get(t, anyone.URL+"/export/comments", "Authorization", "Bearer "+secretToken)
	get(t, anyone.URL+"/readyz")
	get(t, anyone.URL+"/export", "Authorization", "Bearer "+ada.Token)
	server.Terminate(t)

	log := server.Log.String()
	for _, secret := range []string{secretPassword, secretText, secretToken, ada.Token} {
		if strings.Contains(log, secret) {
			t.Errorf("the log contains %q", secret)
		}
	}
	records := recordsOf(t, log)
	const graphQL = "/graphql"
	viewer := viewerOf(t, records)
	for _, want := range []map[string]any{
		{"msg": "request", "method": "POST", "route": graphQL, "status": 200.0, "operation": "Join", "type": "mutation", "code": "OK"},
		{"msg": "slow operation", "level": "WARN", "operation": "Write", "type": "mutation", "code": "OK", "viewer": viewer},
		{"msg": "request", "method": "POST", "route": graphQL, "status": 200.0, "operation": "Write", "type": "mutation", "code": "OK", "viewer": viewer},
		{"msg": "request", "method": "POST", "route": graphQL, "status": 200.0, "code": "GRAPHQL_PARSE_FAILED"},
		{"msg": "request", "method": "GET", "route": graphQL, "status": 101.0},
		{"msg": "operation", "operation": "OnSocket", "type": "query", "code": "OK", "viewer": viewer},
		{"msg": "operation", "code": "GRAPHQL_VALIDATION_FAILED"},
		{"msg": "request", "method": "GET", "route": graphQL, "status": 200.0, "operation": "Got", "type": "query", "code": "NOT_FOUND", "requestId": "from-the-proxy", "trace": "0af7651916cd43dd8448eb211c80319c"},
		{"msg": "request", "method": "GET", "route": "/ads/click/{token}", "status": 404.0},
		{"msg": "request", "method": "GET", "route": "/export/comments", "status": 401.0},
		{"msg": "request", "method": "GET", "route": "/readyz", "status": 200.0},
		{"msg": "request", "method": "GET", "route": "/export", "status": 200.0, "viewer": viewer},
	} {
		if !anyHas(records, want) {
			t.Errorf("the log has no record with %v:\n%s", want, log)
		}
	}
	for _, r := range records {
		if id, _ := r["requestId"].(string); (r["msg"] == "request" || r["msg"] == "operation") && (id == "" || strings.Contains(id, " ")) {
			t.Errorf("a record has the id %q: %v", id, r)
		}
	}
}

// signedUp signs ada up.
func signedUp(t *testing.T, p plazatest.Person) plazatest.Person {
	t.Helper()
	var joined struct{ SignUp struct{ Token string } }
	p.Do(t, `mutation Join($in: SignUpInput!) { signUp(input: $in) { token } }`,
		map[string]any{"in": map[string]any{"handle": "ada", "name": "Ada", "password": secretPassword}}, &joined)
	p.Token = joined.SignUp.Token
	return p
}

// run sends an operation, which may fail.
func run(t *testing.T, p plazatest.Person, query string, variables map[string]any) {
	t.Helper()
	body, err := json.Marshal(map[string]any{"query": query, "variables": variables})
	if err != nil {
		t.Fatal(err)
	}
	p.Post(t, body)
}

// get sends a GET with pairs of header fields.
func get(t *testing.T, address string, header ...string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, response.Body)
	_ = response.Body.Close()
}

// recordsOf reads a log, which must be JSON Lines.
func recordsOf(t *testing.T, log string) (records []map[string]any) {
	t.Helper()
	lines := bufio.NewScanner(strings.NewReader(log))
	for lines.Scan() {
		var r map[string]any
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatalf("%v: %s", err, lines.Text())
		}
		records = append(records, r)
	}
	return records
}

// viewerOf returns the only viewer in a log.
func viewerOf(t *testing.T, records []map[string]any) (viewer string) {
	t.Helper()
	for _, r := range records {
		if id, _ := r["viewer"].(string); id != "" {
			if viewer != "" && viewer != id || !strings.HasPrefix(id, "user_") {
				t.Errorf("the log has the viewers %s and %s", viewer, id)
			}
			viewer = id
		}
	}
	return viewer
}

// anyHas reports whether a record has all these fields.
func anyHas(records []map[string]any, want map[string]any) bool {
	for _, r := range records {
		got := map[string]any{}
		for name := range want {
			got[name] = r[name]
		}
		if cmp.Equal(want, got) {
			return true
		}
	}
	return false
}
