package app

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"plaza/internal/testtime"
	"plaza/ratelimit"
	"plaza/resolvers/gate"
	"plaza/social"
	"plaza/social/accounts"
	"plaza/social/network"
	"plaza/social/passwords"
	"plaza/storage/sqlite"
	"plaza/transport/execution"
)

// hourly returns a limit that does not refill while a test runs.
func hourly(name string, burst int) *ratelimit.Limit {
	return ratelimit.New(ratelimit.Policy{Name: name, Burst: burst, Window: time.Hour})
}

// serve answers a request of a client.
func serve(s *Server, client, method, target, authorization string) *httptest.ResponseRecorder {
	request, recorder := httptest.NewRequest(method, target, nil), httptest.NewRecorder()
	request.RemoteAddr = client + ":1"
	if authorization != "" {
		request.Header.Set("Authorization", authorization)
	}
	s.Handler.ServeHTTP(recorder, request)
	return recorder
}

// startCheap returns a server where signing up is fast.
func startCheap(st *sqlite.Store, limiting *limits) *Server {
	return newServer(st, &Config{Social: network.Options{Accounts: accounts.Options{Passwords: passwords.Cost{Passes: 1, Memory: 64}}}}, limiting, nil)
}

func signUp(t *testing.T, s *Server, handle string) (session social.Session, token string) {
	t.Helper()
	session, token, err := s.social.SignUp(t.Context(), accounts.SignUpInput{Handle: handle, Name: handle, Password: "a password"})
	if err != nil {
		t.Fatal(err)
	}
	return session, token
}

// TestEveryEndpointIsLimited: requests that are not GraphQL count for their address, too.
func TestEveryEndpointIsLimited(t *testing.T) {
	t.Parallel()
	for _, target := range []string{clickPath + "x", impressionPath + "x", conversionPath + "x", exportPath} {
		limiting := newLimits()
		limiting.clients = hourly("address", 3*arrivalCost)
		s := newServer(openFile(t), &Config{}, limiting, nil)
		for range 3 {
			if got := serve(s, "198.51.100.1", http.MethodGet, target, ""); got.Code == http.StatusTooManyRequests {
				t.Errorf("%s: limited within the limit", target)
			}
		}
		got := serve(s, "198.51.100.1", http.MethodGet, target, "")
		if got.Code != http.StatusTooManyRequests || got.Header().Get("Retry-After") == "" || got.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %d %v", target, got.Code, got.Header())
		}
		if got := serve(s, "198.51.100.2", http.MethodGet, target, ""); got.Code == http.StatusTooManyRequests {
			t.Errorf("%s: another address is limited", target)
		}
	}
}

// TestExportsAreCharged: each page of an export counts like operations of its user.
func TestExportsAreCharged(t *testing.T) {
	t.Parallel()
	st := openFile(t)
	limiting := newLimits()
	limiting.tokens = hourly("token", 2*exportCharge.Cost)
	s := startCheap(st, limiting)
	_, token := signUp(t, s, "ada")
	for i, want := range []int{http.StatusOK, http.StatusOK, http.StatusTooManyRequests} {
		got := serve(s, "198.51.100.1", http.MethodGet, exportPath, "Bearer "+token)
		if got.Code != want || want == http.StatusTooManyRequests && !strings.Contains(got.Body.String(), "try again in") {
			t.Errorf("export %d: %d %s", i, got.Code, got.Body)
		}
	}
}

// TestSizesTakeFromLimits: a request and a document take from the address, and a long answer takes
// from everything that its operation takes from.
func TestSizesTakeFromLimits(t *testing.T) {
	t.Parallel()
	limiting := newLimits()
	s := startCheap(openFile(t), limiting)
	session, token := signUp(t, s, "ada")
	in := network.NewPost{Content: social.Content{Status: &social.Status{Text: strings.Repeat("a", social.MaxTextLen)}}, Audience: social.Audience{Kind: social.AudiencePublic}}
	if _, err := s.social.CreatePost(t.Context(), session.User, in); err != nil {
		t.Fatal(err)
	}
	full := func(name string) *ratelimit.Limit { // does not refill during the test
		return ratelimit.New(ratelimit.Policy{Name: name, Burst: 100_000, Window: 10_000 * time.Hour})
	}
	limiting.clients, limiting.tokens, limiting.users = full("address"), full("token"), full("user")
	query := `{ viewer { news(last: 1) { nodes { ... on StatusPost { a: text b: text c: text d: text e: text f: text } } } } }`
	sent := "query=" + url.QueryEscape(query) + "&unused=" + strings.Repeat("a", 1000)
	got := serve(s, "198.51.100.1", http.MethodGet, "/graphql?"+sent, "Bearer "+token).Body.String()
	data, _, ok := strings.Cut(strings.TrimPrefix(got, `{"data":`), `,"extensions":`)
	if !ok || len(data) < 6*social.MaxTextLen {
		t.Fatalf("%.300s", got)
	}
	used := func(l *ratelimit.Limit, key string) int { return l.Take(key, 1).Used() - 1 }
	operation, arrival := len(data)/1024, arrivalCost+len(sent)/256+len(query)/16
	if n := used(limiting.tokens, gate.KeyOf(session.TokenHash)); n != operation {
		t.Errorf("%d were taken from the token, want %d", n, operation)
	}
	if n := used(limiting.users, session.User.String()); n != operation {
		t.Errorf("%d were taken from the user, want %d", n, operation)
	}
	if n := used(limiting.clients, "198.51.100.1"); n != operation+arrival {
		t.Errorf("%d were taken from the address, want %d", n, operation+arrival)
	}
}

// TestAwait: an operation that a limit refuses waits until it is admitted, or until its context
// ends.
func TestAwait(t *testing.T) {
	t.Parallel()
	limiting := newLimits()
	limiting.clients = ratelimit.New(ratelimit.Policy{Name: "address", Burst: 10, Window: 10 * time.Millisecond})
	began := time.Now()
	for range 5 { // the first finds a full bucket
		if err := limiting.await(t.Context(), execution.Charge{Cost: 10}); err != nil {
			t.Fatal(err)
		}
	}
	if took := time.Since(began); took < 40*time.Millisecond {
		t.Errorf("five full buckets are admitted within %v", took)
	}
	limiting.clients = hourly("address", 10)
	limiting.clients.Take("", 10)
	ended, end := context.WithCancel(t.Context())
	end()
	if err := limiting.await(ended, execution.Charge{Cost: 10}); err == nil {
		t.Error("an ended context is admitted")
	}
	if err := (*limits)(nil).await(t.Context(), execution.Charge{Cost: 10}); err != nil {
		t.Errorf("without limits: %v", err)
	}
}

// TestExportEndsWithItsSession: after the page during which the session ends, there are no more
// pages.
func TestExportEndsWithItsSession(t *testing.T) {
	t.Parallel()
	ended := errors.New("the session has ended")
	authenticate := func(ctx context.Context, _ string) (context.Context, error) { return ctx, ended }
	e := &exports{authenticate: authenticate}
	if err := e.next(t.Context(), "Bearer x", exportCharge); !errors.Is(err, ended) {
		t.Errorf("the export continues: %v", err)
	}
}

// TestPastIsCharged: each item that a subscription reads from the past is charged like a live one,
// and items beyond the limits wait.
func TestPastIsCharged(t *testing.T) {
	t.Parallel()
	const items, atOnce, cost = 8, 5, 3
	limiting := newLimits()
	s := startCheap(openFile(t), limiting)
	session, token := signUp(t, s, "ada")
	for range items + 1 {
		in := network.NewPost{Content: social.Content{Status: &social.Status{Text: "news"}}, Audience: social.Audience{Kind: social.AudiencePublic}}
		if _, err := s.social.CreatePost(t.Context(), session.User, in); err != nil {
			t.Fatal(err)
		}
	}
	oldest := serve(s, "198.51.100.1", http.MethodGet, "/graphql?query="+url.QueryEscape(`{ viewer { news(last: 1) { pageInfo { endCursor } } } }`), "Bearer "+token).Body.String()
	_, oldest, _ = strings.Cut(oldest, `"endCursor":"`)
	oldest, _, _ = strings.Cut(oldest, `"`)
	limiting.tokens = hourly("token", (1+atOnce)*cost+social.DefaultPageSize) // once for its beginning, with a page
	socket := subscribed(t, s, token, `subscription { newsItemAdded(after: "`+oldest+`") { cursor event } }`)
	for range atOnce {
		receiveItem(t, socket)
	}
	if left := limiting.tokens.Take(gate.KeyOf(session.TokenHash), 1); left.RetryAfter == 0 {
		t.Errorf("%d items leave %d of the limit", atOnce, left.Remaining+1)
	}
}

// subscribed opens a websocket to a server, with one subscription.
func subscribed(t *testing.T, s *Server, token, subscription string) *websocket.Conn {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	done, err := s.Hub.Open(ctx)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(s.Handler)
	t.Cleanup(func() {
		_ = s.GraphQL.Shutdown(context.Background())
		server.Close()
		stop()
		<-done
	})
	dialer := websocket.Dialer{Subprotocols: []string{"graphql-transport-ws"}}
	socket, response, err := dialer.DialContext(t.Context(), "ws"+strings.TrimPrefix(server.URL, "http")+"/graphql", nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	t.Cleanup(func() { _ = socket.Close() })
	for _, message := range []map[string]any{
		{"type": "connection_init", "payload": map[string]string{"Authorization": "Bearer " + token}},
		{"type": "subscribe", "id": "1", "payload": map[string]string{"query": subscription}},
	} {
		if err := socket.WriteJSON(message); err != nil {
			t.Fatal(err)
		}
		if message["type"] == "connection_init" {
			if _, ack, err := socket.ReadMessage(); err != nil || !strings.Contains(string(ack), "connection_ack") {
				t.Fatalf("%s %v", ack, err)
			}
		}
	}
	return socket
}

func receiveItem(t *testing.T, socket *websocket.Conn) {
	t.Helper()
	_ = socket.SetReadDeadline(time.Now().Add(testtime.Patience()))
	if _, message, err := socket.ReadMessage(); err != nil || !strings.Contains(string(message), `"ADDED"`) {
		t.Fatalf("want an item, got %s %v", message, err)
	}
}
