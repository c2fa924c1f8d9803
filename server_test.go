package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"plaza/internal/testtime"
	"plaza/storage"
	"plaza/web"
)

// TestDrain ends a server as SIGTERM does, with a socket open: the socket closes with 1001, and serving ends without an error.
func TestDrain(t *testing.T) {
	forEachEngine(t, func(t *testing.T, e engine) {
		st := e.open(t)
		defer func() { _ = st.Close() }()
		s := newServer(st, &serveCommand{AllowedOrigins: []string{"*"}}, web.Config{})
		listener, err := listen(t.Context(), "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		ctx, terminate := context.WithCancel(t.Context())
		served := make(chan error, 1)
		go func() { served <- s.serve(ctx, frontOf(listener)) }()
		on := &plaza{url: "http://" + listener.Addr().String(), store: st, server: s, people: map[string]person{}}
		for path, want := range map[string]int{"/livez": 200, "/readyz": 200, "/": 200, "/nothing": 404, "/ads/click/forged": 404} {
			if got := statusOf(t, on.url+path); got != want {
				t.Errorf("%s: status %d, want %d", path, got, want)
			}
		}
		news := on.as(t, "ada").connect(t)
		news.subscribe(on, "news", newsSubscription)
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
			t.Error("the server does not end")
		}
	})
}

// TestNotReady asks a server whose database is gone.
func TestNotReady(t *testing.T) {
	plaza := startPlaza(t, engine{"closed", func(t testing.TB) storage.Store { return unreachable{engines[0].open(t)} }})
	if got := statusOf(t, plaza.url+"/readyz"); got != http.StatusServiceUnavailable {
		t.Errorf("/readyz: status %d, want 503", got)
	}
	if got := statusOf(t, plaza.url+"/livez"); got != http.StatusOK {
		t.Errorf("/livez: status %d, want 200", got)
	}
}

// unreachable is a store whose database does not answer.
type unreachable struct{ storage.Store }

func (unreachable) Ping(context.Context) error { return errors.New("connection refused") }

// TestAnswersAreBounded asks a cheap question that has a huge answer.
func TestAnswersAreBounded(t *testing.T) {
	plaza := startPlaza(t, engines[0])
	ada := plaza.as(t, "ada")
	post := ada.status(t, strings.Repeat("\U0001F600", 10_000), public)
	ids := strings.Repeat(`"`+post+`",`, 100)
	var aliases strings.Builder
	for i := range 99 {
		fmt.Fprintf(&aliases, " a%d: text", i)
	}
	answer := plaza.as(t, "anyone").raw(t, `{ nodes(ids: [`+ids+`]) { ... on StatusPost {`+aliases.String()+` } } }`)
	if len(answer) > 1_000 || !strings.Contains(answer, "QUERY_TOO_COMPLEX") || strings.Contains(answer, `"data"`) {
		t.Errorf("%d bytes: %.300s", len(answer), answer)
	}
}

func TestCrossOriginRequests(t *testing.T) {
	plaza := startPlaza(t, engines[0])
	request, err := http.NewRequestWithContext(t.Context(), http.MethodOptions, plaza.url+"/graphql", http.NoBody)
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

// TestOwnOriginIsAllowed opens a socket from a page of the public URL, through a proxy that gives the server another Host.
func TestOwnOriginIsAllowed(t *testing.T) {
	st := engines[0].open(t)
	defer func() { _ = st.Close() }()
	for publicURL, allowed := range map[string]map[string]bool{
		"https://plaza.example":            {"https://plaza.example": true, "https://app.example": true, "http://plaza.example": false, "https://evil.example": false},
		"HTTPS://Plaza.example:443/social": {"https://plaza.example": true, "https://app.example": true, "https://evil.example": false},
		"http://plaza.example:8080":        {"http://plaza.example:8080": true, "http://plaza.example": false},
	} {
		s := newServer(st, &serveCommand{PublicURL: publicURL, AllowedOrigins: []string{"https://app.example"}}, web.Config{})
		listener := httptest.NewServer(s.handler)
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

// TestCompression: gzip wins over zstd where a client takes both.
func TestCompression(t *testing.T) {
	plaza := startPlaza(t, engines[0])
	for accept, want := range map[string]string{
		"gzip, deflate, br, zstd": "gzip", "zstd, gzip": "gzip", "gzip": "gzip", "zstd": "zstd", "identity": "",
	} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, plaza.url+"/graphql?query={__schema{types{name,description}}}", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
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

func statusOf(t *testing.T, url string) int {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, response.Body)
	_ = response.Body.Close()
	return response.StatusCode
}

// closeErrorOf reads a socket to its end.
func closeErrorOf(s *socket) error {
	_ = s.conn.SetReadDeadline(time.Now().Add(testtime.Patience()))
	for {
		if _, _, err := s.conn.ReadMessage(); err != nil {
			return err
		}
	}
}

// TestStartFailures starts plaza with a configuration that cannot work: a sentence that says what to do, and exit code 1.
func TestStartFailures(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"a URI of something else":  {[]string{"--mongodb-uri", "http://localhost"}, "should look like mongodb://"},
		"an address that is taken": {[]string{"--addr", takenAddress(t)}, "cannot listen on"},
		"a file as the folder":     {[]string{"--data", "/dev/null"}, "/dev/null"},
		"an unknown flag":          {[]string{"--nonsense"}, "unknown flag"},
	} {
		t.Run(name, func(t *testing.T) {
			command, _, stderr := plazaCommand(t.Context(), t.TempDir(), c.args...)
			err := command.Run()
			if err == nil || command.ProcessState.ExitCode() == 0 || command.ProcessState.ExitCode() > 80 {
				t.Errorf("exit code %d: %v", command.ProcessState.ExitCode(), err)
			}
			if !strings.Contains(stderr.String(), c.want) || strings.Contains(stderr.String(), "goroutine") {
				t.Errorf("want %q in: %s", c.want, stderr)
			}
		})
	}
}

func takenAddress(t *testing.T) string {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	return listener.Addr().String()
}
