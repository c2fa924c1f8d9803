package transport

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"plaza/transport/codes"
)

// event is an event of a stream. Heartbeats are omitted.
type event struct{ name, data string }

// costOf matches the cost, which other tests check.
var costOf = regexp.MustCompile(`,"extensions":\{"cost":\{[^}]*\}\}`)

// eventStream is the client's end of a stream.
type eventStream struct {
	t        *testing.T
	response *http.Response
	lines    *bufio.Scanner
	leave    func()
}

// next returns the next event, or false at the end of the stream.
func (s *eventStream) next() (e event, more bool) {
	for s.lines.Scan() {
		name, value, _ := strings.Cut(s.lines.Text(), ":")
		switch name {
		case "event":
			e.name = strings.TrimPrefix(value, " ")
		case "data":
			e.data = costOf.ReplaceAllString(strings.TrimPrefix(value, " "), "")
			return e, true
		}
	}
	return event{}, false
}

func (s *eventStream) want(events ...event) {
	s.t.Helper()
	for _, want := range events {
		if got, _ := s.next(); got != want {
			s.t.Fatalf("got %+v, want %+v", got, want)
		}
	}
}

func (s *eventStream) wantEnd() {
	s.t.Helper()
	if e, more := s.next(); more {
		s.t.Fatalf("%+v comes after the end", e)
	}
}

// ask sends a request about event streams, and returns the response.
func (s *testServer) ask(t *testing.T, method, query, body string, header ...string) *eventStream {
	t.Helper()
	ctx, leave := context.WithCancel(t.Context())
	request, err := http.NewRequestWithContext(ctx, method, s.URL+"/graphql"+query, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	for _, h := range header {
		name, value, _ := strings.Cut(h, ": ")
		request.Header.Set(name, value)
	}
	response, err := s.Client().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { leave(); _ = response.Body.Close() })
	return &eventStream{t, response, bufio.NewScanner(response.Body), leave}
}

// status sends a request, and returns the status and the body of the answer.
func (s *testServer) status(t *testing.T, method, query, body string, header ...string) (int, string) {
	t.Helper()
	answer := s.ask(t, method, query, body, header...)
	text, err := io.ReadAll(answer.response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.response.StatusCode, string(text)
}

func (s *testServer) wantStatus(t *testing.T, want int, method, query, body string, header ...string) {
	t.Helper()
	if got, text := s.status(t, method, query, body, header...); got != want {
		t.Errorf("%s %s %s: %d %s, want %d", method, query, body, got, text, want)
	}
}

const (
	asEvents = "Accept: text/event-stream"
	asAda    = "Authorization: Bearer ada"
	asBob    = "Authorization: Bearer bob"
)

func operationText(query, id string) string {
	request := map[string]any{"query": query}
	if id != "" {
		request["extensions"] = map[string]any{"operationId": id}
	}
	text, _ := json.Marshal(request)
	return string(text)
}

func TestEventsOfOneOperation(t *testing.T) {
	t.Parallel()
	s := newTestServer(t, nil)
	stream := s.ask(t, "POST", "", operationText("subscription { ticks(count: 2) { n } }", ""), asEvents)
	if got := stream.response.Header.Get("Content-Type"); stream.response.StatusCode != http.StatusOK || got != "text/event-stream; charset=utf-8" {
		t.Fatalf("%d, %s", stream.response.StatusCode, got)
	}
	stream.want(event{"next", `{"data":{"ticks":{"n":0}}}`}, event{"next", `{"data":{"ticks":{"n":1}}}`}, event{"complete", ""})
	stream.wantEnd()

	stream = s.ask(t, "POST", "", operationText("{ viewer }", ""), asEvents, asAda)
	stream.want(event{"next", `{"data":{"viewer":"ada"}}`}, event{"complete", ""})
	stream.wantEnd()

	// An EventSource cannot read the body of an answer other than 200.
	stream = s.ask(t, "POST", "", operationText("{ nothing }", ""), asEvents)
	if e, _ := stream.next(); e.name != "next" || !strings.Contains(e.data, codes.ValidationFailed) {
		t.Errorf("an invalid operation: %+v", e)
	}
	stream.want(event{"complete", ""})
	stream.wantEnd()

	s.wantStatus(t, http.StatusMethodNotAllowed, "GET", "?query=mutation{setText(text:\"x\")}", "", asEvents)
	s.wantStatus(t, http.StatusUnauthorized, "POST", "", operationText("{ viewer }", ""), asEvents, "Authorization: Bearer eve")
	s.wantStatus(t, http.StatusUnsupportedMediaType, "POST", "", operationText("{ viewer }", ""), asEvents, "Content-Type: text/plain")
	s.wantStatus(t, http.StatusBadRequest, "POST", "", operationText("subscription { forever { n } }", ""))
}

func TestAClientThatLeavesEndsItsEvents(t *testing.T) {
	t.Parallel()
	s := newTestServer(t, nil)
	stream := s.ask(t, "POST", "", operationText("subscription { forever { n } }", ""), asEvents)
	receive(t, s.resolver.Started)
	stream.leave()
	receive(t, s.resolver.Ended)
}

func TestASessionThatEndsEndsItsEvents(t *testing.T) {
	t.Parallel()
	s := newTestServer(t, nil)
	stream := s.ask(t, "POST", "", operationText("subscription { forever { n } }", ""), asEvents, asAda)
	other := s.ask(t, "POST", "", operationText("subscription { forever { n } }", ""), asEvents, asBob)
	for range 2 {
		receive(t, s.resolver.Started)
	}
	s.transport.CloseSession("ada")
	if e, _ := stream.next(); e.name != "next" || !strings.Contains(e.data, codes.Unauthenticated) {
		t.Errorf("the end of the session: %+v", e)
	}
	stream.want(event{"complete", ""})
	stream.wantEnd()
	receive(t, s.resolver.Ended)
	select {
	case what := <-s.resolver.Ended:
		t.Errorf("%s of another session ended too", what)
	default:
	}
	other.leave()
}

func TestOneStreamForAllOperations(t *testing.T) {
	t.Parallel()
	s := newTestServer(t, nil)
	status, token := s.status(t, "PUT", "", "", asAda)
	if status != http.StatusCreated || len(token) < 20 {
		t.Fatalf("%d %q", status, token)
	}
	with := "X-GraphQL-Event-Stream-Token: " + token
	ticks := operationText("subscription { ticks(count: 1) { n } }", "one")
	s.wantStatus(t, http.StatusNotFound, "POST", "", ticks, asAda, with+"x")
	s.wantStatus(t, http.StatusNotFound, "POST", "", ticks, asBob, with)
	s.wantStatus(t, http.StatusNotFound, "POST", "", ticks, with)
	s.wantStatus(t, http.StatusNotFound, "GET", "?token="+token+"x", "", asEvents)

	stream := s.ask(t, "GET", "?token="+token, "", asEvents) // as a browser's EventSource does: without Authorization
	s.wantStatus(t, http.StatusConflict, "GET", "?token="+token, "", asEvents, asAda)
	s.wantStatus(t, http.StatusBadRequest, "POST", "", operationText("{ viewer }", ""), asAda, with)
	s.wantStatus(t, http.StatusBadRequest, "POST", "", operationText("{ nothing }", "one"), asAda, with)

	s.wantStatus(t, http.StatusAccepted, "POST", "", ticks, asAda, with)
	stream.want(event{"next", `{"id":"one","payload":{"data":{"ticks":{"n":0}}}}`}, event{"complete", `{"id":"one"}`})
	s.wantStatus(t, http.StatusAccepted, "POST", "", operationText("{ viewer }", "two"), asAda, with)
	stream.want(event{"next", `{"id":"two","payload":{"data":{"viewer":"ada"}}}`}, event{"complete", `{"id":"two"}`})

	forever := operationText("subscription { forever { n } }", "long")
	s.wantStatus(t, http.StatusAccepted, "POST", "", forever, asAda, with)
	s.wantStatus(t, http.StatusConflict, "POST", "", forever, asAda, with)
	s.wantStatus(t, http.StatusBadRequest, "DELETE", "", "", asAda, with)
	s.wantStatus(t, http.StatusNotFound, "DELETE", "?operationId=long", "", asBob, with)
	s.wantStatus(t, http.StatusOK, "DELETE", "?operationId=long", "", asAda, with)
	s.wantStatus(t, http.StatusOK, "DELETE", "?operationId=long", "", asAda, with) // it ended meanwhile
	s.wantStatus(t, http.StatusAccepted, "POST", "", operationText("{ viewer }", "long"), asAda, with)
	for {
		e, more := stream.next()
		if !more || strings.Contains(e.data, `"viewer":"ada"`) {
			break
		}
		if !strings.HasPrefix(e.data, `{"id":"long"`) || e.name != "next" {
			t.Fatalf("%+v", e)
		}
	}
	stream.leave()
	eventually(t, "the token is forgotten with its stream", func() bool {
		status, _ := s.status(t, "POST", "", ticks, asAda, with)
		return status == http.StatusNotFound
	})
}

func TestReservedStreamsExpire(t *testing.T) {
	t.Parallel()
	s := newTestServer(t, func(o *Options) { o.Events.OpenTimeout = 1 })
	_, token := s.status(t, "PUT", "", "")
	eventually(t, "a stream that is not opened is forgotten", func() bool {
		status, _ := s.status(t, "POST", "?token="+token, operationText("{ viewer }", "one"))
		return status == http.StatusNotFound
	})
}

func TestEventStreamsHaveSeats(t *testing.T) {
	t.Parallel()
	s := newTestServer(t, func(o *Options) {
		o.Connections.Limits.User, o.Connections.UserOf = 1, o.Connections.SessionKey
	})
	s.wantStatus(t, http.StatusCreated, "PUT", "", "", asAda)
	s.wantStatus(t, http.StatusTooManyRequests, "PUT", "", "", asAda)
	s.wantStatus(t, http.StatusTooManyRequests, "POST", "", operationText("{ viewer }", ""), asEvents, asAda)
}
