package transport

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"plaza/internal/testtime"
	"plaza/transport/codes"
	"plaza/transport/connections"
)

// events is an event stream as a client reads it.
type events struct {
	*http.Response

	t     *testing.T
	lines *bufio.Reader
	leave context.CancelFunc
}

// stream opens an event stream.
func (s *testServer) stream(t *testing.T, method, target, body string, headers ...string) *events {
	t.Helper()
	ctx, leave := context.WithTimeout(t.Context(), patience)
	t.Cleanup(leave)
	req, err := http.NewRequestWithContext(ctx, method, s.URL+target, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for _, header := range append([]string{asEvents, "Content-Type: application/json"}, headers...) {
		name, value, _ := strings.Cut(header, ": ")
		req.Header.Set(name, value)
	}
	resp, err := s.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	if got := resp.Header.Get("Content-Type"); resp.StatusCode != http.StatusOK || got != "text/event-stream; charset=utf-8" {
		t.Fatalf("no stream: %d %s", resp.StatusCode, got)
	}
	return &events{resp, t, bufio.NewReader(resp.Body), leave}
}

// distinct starts an operation on a separate stream.
func (s *testServer) distinct(t *testing.T, query string, headers ...string) *events {
	t.Helper()
	return s.stream(t, http.MethodPost, "/graphql", `{"query":`+quote(query)+`}`, headers...)
}

// reserve returns the token of a stream.
func (s *testServer) reserve(t *testing.T, headers ...string) string {
	t.Helper()
	got := s.do(t, http.MethodPut, "/graphql", "", headers...)
	if got.status != http.StatusCreated || len(got.body) < 20 {
		t.Fatalf("PUT: %d %s", got.status, got.body)
	}
	return got.body
}

// start starts an operation on a reserved stream.
func (s *testServer) start(t *testing.T, token, id, query string, headers ...string) result {
	t.Helper()
	return s.post(t, `{"query":`+quote(query)+`,"extensions":{"operationId":`+quote(id)+`}}`, append(headers, "X-GraphQL-Event-Stream-Token: "+token)...)
}

// read returns the next event as it was sent, "" at the end of the stream.
func (e *events) read() string {
	e.t.Helper()
	var event strings.Builder
	for {
		line, err := e.lines.ReadString('\n')
		switch {
		case err == io.EOF && event.Len() == 0:
			return ""
		case err != nil:
			e.t.Fatal(err)
		case strings.HasPrefix(line, ":"):
			_, _ = e.lines.ReadString('\n')
		case line == "\n":
			return event.String()
		default:
			event.WriteString(line)
		}
	}
}

func (e *events) want(event string) {
	e.t.Helper()
	if got := e.read(); got != event {
		e.t.Fatalf("got %q, want %q", got, event)
	}
}

func (e *events) wantPart(parts ...string) {
	e.t.Helper()
	got := e.read()
	for _, part := range parts {
		if !strings.Contains(got, part) {
			e.t.Fatalf("got %q, want %q in it", got, part)
		}
	}
}

const distinctComplete = "event: complete\ndata:\n"

// TestEventsWaitForTheirStream: operations may begin on a reservation, and end with it.
func TestEventsWaitForTheirStream(t *testing.T) {
	s := newTestServer(t, nil)
	token := s.reserve(t, asAda)
	if got := s.start(t, token, "1", `{ viewer }`, asAda); got.status != http.StatusAccepted || got.body != "" {
		t.Fatalf("%d %s", got.status, got.body)
	}
	e := s.stream(t, http.MethodGet, "/graphql?token="+token, "")
	e.wantPart("event: next\ndata: {\"id\":\"1\",\"payload\":{\"data\":{\"viewer\":\"ada\"}")
	e.want("event: complete\ndata: {\"id\":\"1\"}\n")
	if e.Header.Get("Cache-Control") != "no-cache" || e.Header.Get("X-Accel-Buffering") != "no" {
		t.Errorf("headers: %v", e.Header)
	}
	s.start(t, token, "2", `subscription { forever { n } }`, asAda)
	receive(t, s.resolver.Started)
	e.leave()
	receive(t, s.resolver.Ended)
	eventually(t, "no seat is taken", s.transport.connections.Empty)
}

// TestDistinctEventsThatFail: errors of an operation are events, and errors of the request are a
// status.
func TestDistinctEventsThatFail(t *testing.T) {
	s := newTestServer(t, nil)
	for query, code := range map[string]string{
		`{ nope }`: codes.ValidationFailed, `{`: codes.ParseFailed, `subscription { refused { n } }`: "NOT_FOUND",
	} {
		e := s.distinct(t, query)
		e.wantPart("event: next\n", `{"errors":[`, code)
		e.want(distinctComplete)
		e.want("")
	}
	e := s.distinct(t, `subscription { tooSlow { n } }`)
	e.wantPart(`"n":0`)
	e.wantPart("event: next\n", "SUBSCRIBER_TOO_SLOW")
	e.want(distinctComplete)
	const json = "Content-Type: application/json"
	for name, c := range map[string]struct {
		status int
		got    result
	}{
		"a token that is not valid": {401, s.query(t, `{ viewer }`, asEvents, "Authorization: Bearer nobody")},
		"an unavailable database":   {500, s.query(t, `{ viewer }`, asEvents, "Authorization: Bearer broken")},
		"no JSON":                   {400, s.post(t, `{`, asEvents)},
		"a form":                    {415, s.do(t, http.MethodPost, "/graphql", `{"query":"{viewer}"}`, asEvents, "Content-Type: text/plain")},
		"a mutation by GET":         {405, s.do(t, http.MethodGet, "/graphql?query=mutation%7BsetText(text:%22x%22)%7D", "", asEvents)},
		"JSON is preferred":         {200, s.query(t, `{ viewer }`, "Accept: application/json, text/event-stream")},
		"no body":                   {400, s.do(t, http.MethodPost, "/graphql", "", asEvents, json)},
	} {
		if c.got.status != c.status || strings.Contains(c.got.body, secret) {
			t.Errorf("%s: %d %s", name, c.got.status, c.got.body)
		}
	}
}

// TestEventsEndWithTheSession: subscriptions end with an error, and mutations finish first.
func TestEventsEndWithTheSession(t *testing.T) {
	s := newTestServer(t, nil)
	live := s.distinct(t, `subscription { forever { n } }`, asAda)
	receive(t, s.resolver.Started)
	held := s.distinct(t, `mutation { holds }`, asAda)
	receive(t, s.resolver.Started)
	s.revoked.Store("Bearer ada", true)
	s.transport.CloseSession("ada")
	receive(t, s.resolver.Ended)
	live.wantPart("event: next\n", codes.Unauthenticated)
	live.want(distinctComplete)
	live.want("")
	close(s.resolver.Release)
	held.wantPart(`"released"`)
	held.want(distinctComplete)
	held.want("")
}

// TestEventsEndWithTheServer: there is no complete event, so clients connect again.
func TestEventsEndWithTheServer(t *testing.T) {
	s := newTestServer(t, nil)
	e := s.distinct(t, `subscription { forever { n } }`)
	s.reserve(t, asAda)
	receive(t, s.resolver.Started)
	s.transport.CloseSockets()
	receive(t, s.resolver.Ended)
	e.want("")
	eventually(t, "no seat is taken", s.transport.connections.Empty)
	if got := s.query(t, `{ viewer }`, asEvents); got.status != http.StatusServiceUnavailable {
		t.Errorf("a stream too late: %d", got.status)
	}
}

// TestEventsOfClientsThatDoNotRead are cut off after the write deadline.
func TestEventsOfClientsThatDoNotRead(t *testing.T) {
	s := newTestServer(t, func(o *Options) { o.Events.WriteTimeout = testtime.Scale(300 * time.Millisecond) })
	s.distinct(t, `subscription { flood(bytes: 1000000) }`)
	receive(t, s.resolver.Started)
	receive(t, s.resolver.Ended)
	eventually(t, "no seat is taken", s.transport.connections.Empty)
}

// TestEventStreamsAreLimited together with sockets.
func TestEventStreamsAreLimited(t *testing.T) {
	s := newTestServer(t, func(o *Options) { o.Connections.Limits = connections.Limits{Server: 2, Operations: 1} })
	s.open(t)
	token := s.reserve(t)
	if got := s.query(t, `{ viewer }`, asEvents); got.status != http.StatusServiceUnavailable || got.header.Get("Retry-After") == "" {
		t.Errorf("a third connection: %d %s", got.status, got.body)
	}
	s.start(t, token, "1", `subscription { forever { n } }`)
	receive(t, s.resolver.Started)
	if got := s.start(t, token, "2", `{ viewer }`); got.status != http.StatusTooManyRequests {
		t.Errorf("a second operation: %d %s", got.status, got.body)
	}
}
