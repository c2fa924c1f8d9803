package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"plaza/internal/app"
	"plaza/internal/front"
	"plaza/internal/plazatest"
	"plaza/internal/testtime"
	"plaza/storage"
)

// TestDrain stops a server as SIGTERM does, with a socket open. The socket closes with 1001, and
// serving ends without an error.
func TestDrain(t *testing.T) {
	t.Parallel()
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		st := e.Open(t)
		defer func() { _ = st.Close() }()
		s := app.New(st, app.Config{AllowedOrigins: []string{"*"}})
		listener, err := front.Listen(t.Context(), "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		ctx, terminate := context.WithCancel(t.Context())
		served := make(chan error, 1)
		go func() { served <- s.Serve(ctx, listener) }()
		on := &plazatest.Plaza{URL: "http://" + listener.Addr().String(), Store: st, Server: s, People: map[string]plazatest.Person{}}
		for path, want := range map[string]int{"/livez": 200, "/readyz": 200, "/": 200, "/nothing": 404, "/ads/click/forged": 404} {
			if got := plazatest.StatusOf(t, on.URL+path); got != want {
				t.Errorf("%s: status %d, want %d", path, got, want)
			}
		}
		news := on.As(t, "ada").Connect(t)
		news.Subscribe(on, "news", plazatest.NewsSubscription)
		terminate()
		if err := closeErrorOf(news); !websocket.IsCloseError(err, websocket.CloseGoingAway) {
			t.Errorf("want close code 1001, got %v", err)
		}
		select {
		case err := <-served:
			if err != nil {
				t.Errorf("serve: %v", err)
			}
		case <-time.After(testtime.Patience()):
			t.Error("the server does not stop")
		}
	})
}

// TestNotReady asks for the readiness of a server whose database does not answer.
func TestNotReady(t *testing.T) {
	t.Parallel()
	plaza := plazatest.Start(t, plazatest.Engine{Name: "closed", Open: func(t testing.TB) storage.Store { return unreachable{plazatest.Engines[0].Open(t)} }})
	if got := plazatest.StatusOf(t, plaza.URL+"/readyz"); got != http.StatusServiceUnavailable {
		t.Errorf("/readyz: status %d, want 503", got)
	}
	if got := plazatest.StatusOf(t, plaza.URL+"/livez"); got != http.StatusOK {
		t.Errorf("/livez: status %d, want 200", got)
	}
}

// unreachable is a store whose database does not answer.
type unreachable struct{ storage.Store }

func (unreachable) Ping(context.Context) error { return errors.New("connection refused") }

// TestAnswersAreBounded sends a cheap query with a huge answer.
func TestAnswersAreBounded(t *testing.T) {
	t.Parallel()
	plaza := plazatest.Start(t, plazatest.Engines[0])
	ada := plaza.As(t, "ada")
	post := ada.Status(t, strings.Repeat("\U0001F600", 10_000), plazatest.Public)
	ids := strings.Repeat(`"`+post+`",`, 100)
	var aliases strings.Builder
	for i := range 99 {
		fmt.Fprintf(&aliases, " a%d: text", i)
	}
	answer := plaza.As(t, "anyone").Raw(t, `{ nodes(ids: [`+ids+`]) { ... on StatusPost {`+aliases.String()+` } } }`)
	if len(answer) > 1_000 || !strings.Contains(answer, "QUERY_TOO_COMPLEX") || !strings.Contains(answer, `"data": null`) {
		t.Errorf("%d bytes: %.300s", len(answer), answer)
	}
}

// TestEveryAnswerHasGuardingHeaders: no browser runs, frames or guesses what an answer contains, or
// tells another site about it.
func TestEveryAnswerHasGuardingHeaders(t *testing.T) {
	t.Parallel()
	plaza := plazatest.Start(t, plazatest.Engines[0])
	for _, path := range []string{"/", "/graphql", "/graphql?query={viewer{id}}", "/schema.graphql", "/livez", "/readyz", "/export", "/export/comments", "/session", "/ads/click/none", "/none"} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, plaza.URL+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		h := response.Header
		if !strings.Contains(h.Get("Content-Security-Policy"), "default-src 'none'") || h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Referrer-Policy") != "no-referrer" {
			t.Errorf("%s: %d with %v", path, response.StatusCode, h)
		}
	}
}

func TestCrossOriginRequests(t *testing.T) {
	t.Parallel()
	plaza := plazatest.Start(t, plazatest.Engines[0])
	request, err := http.NewRequestWithContext(t.Context(), http.MethodOptions, plaza.URL+"/graphql", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Origin", "http://localhost:5173")
	request.Header.Set("Access-Control-Request-Method", "POST")
	request.Header.Set("Access-Control-Request-Headers", "authorization,content-type")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if got := response.Header.Get("Access-Control-Allow-Origin"); got != "*" {
		t.Errorf("Access-Control-Allow-Origin is %q", got)
	}
}

// TestOwnOriginIsAllowed opens a socket from a page of the public URL, through a proxy that gives
// the server another Host.
func TestOwnOriginIsAllowed(t *testing.T) {
	t.Parallel()
	st := plazatest.Engines[0].Open(t)
	defer func() { _ = st.Close() }()
	for publicURL, allowed := range map[string]map[string]bool{
		"https://plaza.example":            {"https://plaza.example": true, "https://app.example": true, "http://plaza.example": false, "https://evil.example": false},
		"HTTPS://Plaza.example:443/social": {"https://plaza.example": true, "https://app.example": true, "https://evil.example": false},
		"http://plaza.example:8080":        {"http://plaza.example:8080": true, "http://plaza.example": false},
	} {
		s := app.New(st, app.Config{PublicURL: publicURL, AllowedOrigins: []string{"https://app.example"}})
		listener := httptest.NewServer(s.Handler)
		for origin, want := range allowed {
			header := http.Header{"Origin": {origin}}
			dialer := websocket.Dialer{Subprotocols: []string{"graphql-transport-ws"}}
			conn, response, err := dialer.DialContext(t.Context(), "ws"+strings.TrimPrefix(listener.URL, "http")+"/graphql", header)
			if err == nil {
				_ = conn.Close()
			}
			if got := err == nil; got != want {
				t.Errorf("%s at %s: allowed %v, want %v", origin, publicURL, got, want)
			}
			if got := response.Header.Get("Access-Control-Allow-Origin") == origin; got != want && err != nil {
				t.Errorf("%s at %s: CORS allows %v, want %v", origin, publicURL, got, want)
			}
			_ = response.Body.Close()
		}
		listener.Close()
	}
}

// TestCompression checks that gzip wins over zstd for clients that accept both. Like urql, the
// client would also accept a stream of events, which is not compressed.
func TestCompression(t *testing.T) {
	t.Parallel()
	plaza := plazatest.Start(t, plazatest.Engines[0])
	for accept, want := range map[string]string{
		"gzip, deflate, br, zstd": "gzip", "zstd, gzip": "gzip", "gzip": "gzip", "zstd": "zstd", "identity": "",
	} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, plaza.URL+"/graphql?query={__schema{types{name,description}}}", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Accept", "application/graphql-response+json, application/json, text/event-stream")
		request.Header.Set("Accept-Encoding", accept)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if got := response.Header.Get("Content-Encoding"); got != want {
			t.Errorf("Accept-Encoding %s: got %q, want %q", accept, got, want)
		}
	}
}

// closeErrorOf reads a socket until it closes.
func closeErrorOf(s *plazatest.Socket) error {
	_ = s.Conn.SetReadDeadline(time.Now().Add(testtime.Patience()))
	for {
		if _, _, err := s.Conn.ReadMessage(); err != nil {
			return err
		}
	}
}

// TestRequestsAreAnsweredAfterSocketsClose checks that a draining server refuses new sockets, with
// a time to try again, and still answers requests.
func TestRequestsAreAnsweredAfterSocketsClose(t *testing.T) {
	t.Parallel()
	plaza := plazatest.Start(t, plazatest.Engines[0])
	plaza.Server.GraphQL.CloseSockets()
	_, response, err := websocket.DefaultDialer.DialContext(t.Context(), "ws"+strings.TrimPrefix(plaza.URL, "http")+"/graphql", nil)
	if err == nil || response == nil || response.StatusCode != http.StatusServiceUnavailable || response.Header.Get("Retry-After") != "1" {
		t.Errorf("a new socket: %v %+v", err, response)
	}
	if got := plazatest.StatusOf(t, plaza.URL+"/graphql?query={__typename}"); got != http.StatusOK {
		t.Errorf("a request: status %d", got)
	}
}
