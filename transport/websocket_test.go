package transport

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/gorilla/websocket"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"plaza/internal/testtime"
	"plaza/transport/codes"
	"plaza/transport/execution"
)

// client is a websocket client that sends and expects raw messages.
type client struct {
	*websocket.Conn
	t *testing.T
}

// dial opens a socket without initialising it.
func (s *testServer) dial(t *testing.T, headers ...string) *client {
	t.Helper()
	header := http.Header{"Sec-Websocket-Protocol": {"graphql-transport-ws"}}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		header.Del(name)
		if value != "" {
			header.Set(name, value)
		}
	}
	conn, resp, err := websocket.DefaultDialer.DialContext(t.Context(), "ws"+strings.TrimPrefix(s.URL, "http")+"/graphql", header)
	if err != nil {
		t.Fatalf("%v %v", err, resp)
	}
	t.Cleanup(func() { conn.Close() })
	_ = conn.SetReadDeadline(time.Now().Add(patience))
	return &client{conn, t}
}

// open opens and initialises a socket.
func (s *testServer) open(t *testing.T) *client {
	t.Helper()
	c := s.dial(t)
	c.send(`{"type":"connection_init"}`)
	c.want(`{"type":"connection_ack"}`)
	return c
}

func (c *client) send(message string) {
	c.t.Helper()
	if err := c.WriteMessage(websocket.TextMessage, []byte(message)); err != nil {
		c.t.Fatal(err)
	}
}

// subscribe starts an operation.
func (c *client) subscribe(id, query string) {
	c.t.Helper()
	c.send(`{"id":` + quote(id) + `,"type":"subscribe","payload":{"query":` + quote(query) + `}}`)
}

func (c *client) read() string {
	c.t.Helper()
	kind, data, err := c.ReadMessage()
	if err != nil {
		c.t.Fatal(err)
	}
	if kind != websocket.TextMessage || !json.Valid(data) {
		c.t.Fatalf("message of kind %d: %q", kind, data)
	}
	return string(data)
}

func (c *client) want(message string) {
	c.t.Helper()
	if got := c.read(); got != message {
		c.t.Fatalf("got %s, want %s", got, message)
	}
}

// wantPart reads a message that contains all the parts.
func (c *client) wantPart(parts ...string) string {
	c.t.Helper()
	got := c.read()
	for _, part := range parts {
		if !strings.Contains(got, part) {
			c.t.Fatalf("got %s, want %s in it", got, part)
		}
	}
	return got
}

// wantClose reads the close frame. No message may arrive before it.
func (c *client) wantClose(code int, reason string) {
	c.t.Helper()
	_, data, err := c.ReadMessage()
	var closed *websocket.CloseError
	if !errors.As(err, &closed) {
		c.t.Fatalf("got %v %q, want close %d", err, data, code)
	}
	if closed.Code != code || reason != "" && closed.Text != reason {
		c.t.Fatalf("closed with %d %q, want %d %q", closed.Code, closed.Text, code, reason)
	}
}

func TestSocketQuery(t *testing.T) {
	s := newTestServer(t, nil)
	c := s.open(t)
	c.subscribe("1", `{ viewer }`)
	c.want(`{"id":"1","type":"next","payload":{"data":{"viewer":null},"extensions":{"cost":{"requestedQueryCost":1,"maximumQueryCost":50000}}}}`)
	c.want(`{"id":"1","type":"complete"}`)
	c.subscribe("1", `mutation { setText(text: "x") }`) // the id is free again
	c.wantPart(`"next"`, `{"setText":"x"}`)
	c.want(`{"id":"1","type":"complete"}`)
	c.subscribe("✓\"\n", `{ required }`) // data null is a result, not an error message
	c.wantPart(`{"id":"✓\"\n","type":"next"`, `"data":null`, `"not there"`)
	c.wantPart(`"complete"`)
	c.send(`{"id":"v","type":"subscribe","payload":{"query":"query A($n:Int){number(n:$n)} query B{viewer}","operationName":"A","variables":{"n":7},"extensions":null}}`)
	c.wantPart(`{"number":7}`)
	c.wantPart(`"complete"`)
	if got := s.operations.Load(); got != 4 {
		t.Errorf("%d operations", got)
	}
	if got := s.authentified.Load(); got != 5 { // init, and each operation
		t.Errorf("authenticated %d times", got)
	}
}

func TestSocketSubscription(t *testing.T) {
	s := newTestServer(t, nil)
	c := s.open(t)
	c.subscribe("1", `subscription { ticks(count: 3) { n loader } }`)
	for _, want := range []string{`{"ticks":{"n":0,"loader":1}}`, `{"ticks":{"n":1,"loader":2}}`, `{"ticks":{"n":2,"loader":3}}`} {
		c.wantPart(`"next"`, want, `"requestedQueryCost"`)
	}
	c.want(`{"id":"1","type":"complete"}`)
	c.subscribe("2", `subscription { ticks(count: 2) { n fails } }`) // a failing event does not end it
	c.wantPart(`"next"`, `"event 0"`)
	c.wantPart(`"next"`, `"event 1"`)
	c.want(`{"id":"2","type":"complete"}`)
}

// TestSocketErrors: an error message is an operation's last; the next operation's message proves
// that no complete came after it.
func TestSocketErrors(t *testing.T) {
	s := newTestServer(t, func(o *Options) { o.Documents.Limits.MaxCost = 50 })
	c := s.open(t)
	for name, op := range map[string]struct{ message, code string }{
		"syntax":      {`"query":"{"`, codes.ParseFailed},
		"validation":  {`"query":"{nothing}"`, codes.ValidationFailed},
		"variables":   {`"query":"query($n:Int){number(n:$n)}","variables":{"n":"x"}`, codes.BadUserInput},
		"cost":        {`"query":"{posts(count:100){id}}"`, codes.QueryTooComplex},
		"bad text":    {`"query":"query($t:String!){echo(input:{text:$t})}","variables":{"t":"\ud800"}`, codes.BadUserInput},
		"refused":     {`"query":"subscription{refused{n}}"`, "NOT_FOUND"},
		"two streams": {`"query":"subscription{a:refused{n} b:refused{n}}"`, codes.ValidationFailed},
		"no stream":   {`"query":"subscription{refused @skip(if:true){n}}"`, codes.ValidationFailed},
		"@defer":      {`"query":"{...@defer{viewer}}"`, codes.ValidationFailed},
	} {
		c.send(`{"id":` + quote(name) + `,"type":"subscribe","payload":{` + op.message + `}}`)
		c.wantPart(`{"id":`+quote(name)+`,"type":"error","payload":[{"message":`, `"code":"`+op.code+`"`)
	}
	c.subscribe("slow", `subscription { tooSlow { n } }`)
	c.wantPart(`"next"`, `{"tooSlow":{"n":0}}`)
	c.want(`{"id":"slow","type":"error","payload":[{"message":"too slow","extensions":{"code":"SUBSCRIBER_TOO_SLOW"}}]}`)
	c.subscribe("internal", `{ internal panics }`)
	if got := c.wantPart(`"next"`, codes.Internal); strings.Contains(got, secret) {
		t.Error(got)
	}
	c.want(`{"id":"internal","type":"complete"}`)
}

// TestResponseMiddlewareEndsSubscription: a last response of errors without data is an error
// message too.
func TestResponseMiddlewareEndsSubscription(t *testing.T) {
	s := newTestServer(t, func(o *Options) {
		o.Execution.AroundResponses = []graphql.ResponseMiddleware{
			func(ctx context.Context, next graphql.ResponseHandler) *graphql.Response {
				if resp := next(ctx); resp != nil {
					return resp
				}
				return &graphql.Response{Errors: gqlerror.List{codes.Errorf("SUBSCRIBER_TOO_SLOW", "too slow")}}
			},
		}
	})
	c := s.open(t)
	c.subscribe("1", `subscription{ticks(count:1){n}}`)
	c.wantPart(`"next"`)
	c.want(`{"id":"1","type":"error","payload":[{"message":"too slow","extensions":{"code":"SUBSCRIBER_TOO_SLOW"}}]}`)
	c.subscribe("1", `{viewer}`) // no complete in between
	c.wantPart(`"next"`)
}

func TestSocketCloseCodes(t *testing.T) {
	const initialise = `{"type":"connection_init"}`
	long := strings.Repeat("ä", 60)
	cases := []struct {
		name     string
		messages []string
		code     int
		reason   string
	}{
		{"not JSON", []string{`{`}, 4400, "message is not a JSON object"},
		{"empty", []string{``}, 4400, ""},
		{"list", []string{`[]`}, 4400, ""},
		{"null", []string{`null`}, 4400, ""},
		{"trailing garbage", []string{initialise + "{}"}, 4400, ""},
		{"no type", []string{`{}`}, 4400, "message has no type"},
		{"type in another case", []string{`{"Type":"connection_init"}`}, 4400, "message has no type"},
		{"type is a number", []string{`{"type":1}`}, 4400, ""},
		{"unknown type", []string{`{"type":"` + long + `"}`}, 4400, "unknown message type"},
		{"legacy start", []string{initialise, `{"type":"start","id":"1","payload":{"query":"{viewer}"}}`}, 4400, ""},
		{"server's type", []string{initialise, `{"type":"next","id":"1","payload":{}}`}, 4400, "only servers send next"},
		{"client ack", []string{`{"type":"connection_ack"}`}, 4400, ""},
		{"init payload is a string", []string{`{"type":"connection_init","payload":"x"}`}, 4400, ""},
		{"init payload is a list", []string{`{"type":"connection_init","payload":[]}`}, 4400, ""},
		{"init payload is false", []string{`{"type":"connection_init","payload":false}`}, 4400, ""},
		{"init Authorization is a number", []string{`{"type":"connection_init","payload":{"Authorization":1}}`}, 4400, ""},
		{"ping payload is a number", []string{`{"type":"ping","payload":1}`}, 4400, ""},
		{"pong payload is a number", []string{`{"type":"pong","payload":1}`}, 4400, ""},
		{"bad token", []string{`{"type":"connection_init","payload":{"Authorization":"Bearer x"}}`}, 4403, "Forbidden"},
		{"panic", []string{`{"type":"connection_init","payload":{"Authorization":"Bearer panic"}}`}, 1011, "Internal server error"},
		{"failing database", []string{`{"type":"connection_init","payload":{"Authorization":"Bearer broken"}}`}, 1011, "Internal server error"},
		{"unavailable database", []string{`{"type":"connection_init","payload":{"Authorization":"Bearer unavailable"}}`}, 1013, "Try again later"},
		{"slow database", []string{`{"type":"connection_init","payload":{"Authorization":"Bearer slow"}}`}, 1013, "Try again later"},
		{"too many attempts", []string{`{"type":"connection_init","payload":{"Authorization":"Bearer eager"}}`}, 1013, "Try again later"},
		{"two inits", []string{initialise, initialise}, 4429, "Too many initialisation requests"},
		{"subscribe before init", []string{`{"id":"1","type":"subscribe","payload":{"query":"{viewer}"}}`}, 4401, "Unauthorized"},
		{"subscribe without id", []string{initialise, `{"type":"subscribe","payload":{"query":"{viewer}"}}`}, 4400, "subscribe has no id"},
		{"subscribe with empty id", []string{initialise, `{"id":"","type":"subscribe","payload":{"query":"{viewer}"}}`}, 4400, ""},
		{"subscribe with number id", []string{initialise, `{"id":1,"type":"subscribe","payload":{"query":"{viewer}"}}`}, 4400, ""},
		{"subscribe with long id", []string{initialise, `{"id":"` + strings.Repeat("x", 1024+1) + `","type":"subscribe","payload":{"query":"{viewer}"}}`}, 4400, ""},
		{"subscribe with half a character for id", []string{initialise, `{"id":"\ud800","type":"subscribe","payload":{"query":"{viewer}"}}`}, 4400, ""},
		{"subscribe without payload", []string{initialise, `{"id":"1","type":"subscribe"}`}, 4400, ""},
		{"subscribe with string payload", []string{initialise, `{"id":"1","type":"subscribe","payload":"{viewer}"}`}, 4400, ""},
		{"subscribe without query", []string{initialise, `{"id":"1","type":"subscribe","payload":{}}`}, 4400, `"query" is missing`},
		{"subscribe with number query", []string{initialise, `{"id":"1","type":"subscribe","payload":{"query":1}}`}, 4400, ""},
		{"subscribe with string variables", []string{initialise, `{"id":"1","type":"subscribe","payload":{"query":"{viewer}","variables":"{}"}}`}, 4400, ""},
		{"subscribe with list extensions", []string{initialise, `{"id":"1","type":"subscribe","payload":{"query":"{viewer}","extensions":[]}}`}, 4400, ""},
		{"subscribe with number operationName", []string{initialise, `{"id":"1","type":"subscribe","payload":{"query":"{viewer}","operationName":1}}`}, 4400, ""},
		{"complete without id", []string{initialise, `{"type":"complete"}`}, 4400, ""},
		{"duplicate id", []string{initialise, `{"id":"1","type":"subscribe","payload":{"query":"subscription{forever{n}}"}}`, `{"id":"1","type":"subscribe","payload":{"query":"subscription{forever{n}}"}}`}, 4409, "Subscriber for 1 already exists"},
		{"duplicate id of a query", []string{initialise, `{"id":"1","type":"subscribe","payload":{"query":"{waits}"}}`, `{"id":"1","type":"subscribe","payload":{"query":"{viewer}"}}`}, 4409, ""},
		{"duplicate long id", []string{initialise, `{"id":"` + long + `","type":"subscribe","payload":{"query":"{waits}"}}`, `{"id":"` + long + `","type":"subscribe","payload":{"query":"{waits}"}}`}, 4409, ""},
		{"invalid UTF-8", []string{initialise, `{"id":"` + "\xff" + `","type":"subscribe","payload":{"query":"{viewer}"}}`}, 1007, "Invalid UTF-8"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			s := newTestServer(t, nil)
			c := s.dial(t)
			for _, message := range tc.messages {
				c.send(message)
			}
			if tc.messages[0] == initialise && len(tc.messages) > 1 {
				c.want(`{"type":"connection_ack"}`)
			}
			c.wantClose(tc.code, tc.reason)
		})
	}
	t.Run("binary", func(t *testing.T) {
		c := newTestServer(t, nil).dial(t)
		if err := c.WriteMessage(websocket.BinaryMessage, []byte(initialise)); err != nil {
			t.Fatal(err)
		}
		c.wantClose(4400, "Messages must be text")
	})
	t.Run("too large", func(t *testing.T) {
		c := newTestServer(t, func(o *Options) { o.WebSocket.MaxMessageBytes = 1000 }).dial(t)
		c.send(`{"type":"ping","payload":{}}` + strings.Repeat(" ", 1000-len(`{"type":"ping","payload":{}}`)))
		c.want(`{"type":"pong","payload":{}}`)
		_ = c.WriteMessage(websocket.TextMessage, []byte(strings.Repeat(" ", 8<<20))) // may be cut short
		c.wantClose(1009, "")
	})
	t.Run("no init", func(t *testing.T) {
		c := newTestServer(t, func(o *Options) { o.WebSocket.InitTimeout = time.Millisecond }).dial(t)
		c.wantClose(4408, "Connection initialisation timeout")
	})
	t.Run("no subprotocol", func(t *testing.T) {
		newTestServer(t, nil).dial(t, "Sec-Websocket-Protocol: ").wantClose(4406, "Subprotocol not acceptable")
	})
	t.Run("unknown subprotocol", func(t *testing.T) {
		newTestServer(t, nil).dial(t, "Sec-Websocket-Protocol: mqtt").wantClose(4406, "Subprotocol not acceptable")
	})
	t.Run("several subprotocols", func(t *testing.T) {
		c := newTestServer(t, nil).dial(t, "Sec-Websocket-Protocol: mqtt, graphql-ws, graphql-transport-ws")
		if c.Subprotocol() != "graphql-transport-ws" {
			t.Error(c.Subprotocol())
		}
	})
}

func TestSocketPings(t *testing.T) {
	s := newTestServer(t, nil)
	c := s.dial(t)
	c.send(`{"type":"ping"}`) // also before init
	c.want(`{"type":"pong"}`)
	c.send(`{"type":"ping","payload":null}`)
	c.want(`{"type":"pong"}`)
	c.send(`{"type":"ping","payload":{"a":[1]}}`)
	c.want(`{"type":"pong","payload":{"a":[1]}}`)
	c.send(`{"type":"pong","payload":{}}`) // unasked for, and ignored
	c.send(`{"type":"connection_init","payload":{}}`)
	c.want(`{"type":"connection_ack"}`)
}

func TestSocketAuthorization(t *testing.T) {
	s := newTestServer(t, nil)
	for name, c := range map[string]struct {
		header, init, viewer string
	}{
		"anonymous":         {"", `{"type":"connection_init"}`, `null`},
		"null payload":      {"", `{"type":"connection_init","payload":null}`, `null`},
		"payload":           {"", `{"type":"connection_init","payload":{"Authorization":"Bearer ada"}}`, `"ada"`},
		"lower case":        {"", `{"type":"connection_init","payload":{"authorization":"Bearer ada"}}`, `"ada"`},
		"header":            {"Authorization: Bearer bob", `{"type":"connection_init"}`, `"bob"`},
		"payload is louder": {"Authorization: Bearer bob", `{"type":"connection_init","payload":{"Authorization":"Bearer ada"}}`, `"ada"`},
	} {
		t.Run(name, func(t *testing.T) {
			socket := s.dial(t, c.header)
			socket.send(c.init)
			socket.want(`{"type":"connection_ack"}`)
			socket.subscribe("1", `{viewer}`)
			socket.wantPart(`{"viewer":` + c.viewer + `}`)
		})
	}
}

func TestRevokedTokenIsRefusedAtTheNextOperation(t *testing.T) {
	s := newTestServer(t, nil)
	c := s.dial(t)
	c.send(`{"type":"connection_init","payload":{"Authorization":"Bearer ada"}}`)
	c.want(`{"type":"connection_ack"}`)
	s.revoked.Store("Bearer ada", true)
	c.subscribe("1", `{viewer}`)
	c.wantClose(4403, "Forbidden")
}

// TestStoppedOperationsMakeRoom: at the limit, an operation that follows a stopped one is not refused.
// A query that goes on after it was stopped has to end first.
func TestStoppedOperationsMakeRoom(t *testing.T) {
	t.Parallel()
	s := newTestServer(t, func(o *Options) { o.Connections.Limits.Operations = 1 })
	s.resolver.Ended = make(chan string) // a stopped query goes on until the test receives from it
	c := s.open(t)
	c.subscribe("1", `{ waits }`)
	receive(t, s.resolver.Started)
	c.send(`{"id":"1","type":"complete"}`)
	c.subscribe("2", `{ waits }`)
	c.subscribe("3", `{ viewer }`)
	c.wantPart(`{"id":"3","type":"error"`, codes.RateLimited) // the client listens to the second
	c.send(`{"id":"2","type":"complete"}`)
	c.subscribe("3", `{ viewer }`)
	c.send(`{"type":"ping"}`)
	c.want(`{"type":"pong"}`) // the server knows all this
	receive(t, s.resolver.Ended)
	c.wantPart(`{"id":"3","type":"next"`)
	c.want(`{"id":"3","type":"complete"}`)
	if n := s.operations.Load(); n != 2 {
		t.Errorf("%d operations ran; the second was stopped while it waited", n)
	}
}

// TestSubscriptionsTakeTurnsAtTheLimit: a client that never listens to more than it may is never
// refused, however soon it starts the next subscription.
func TestSubscriptionsTakeTurnsAtTheLimit(t *testing.T) {
	t.Parallel()
	var charges atomic.Int32
	waiting := make(chan struct{}, 1)
	s := newTestServer(t, func(o *Options) {
		o.Connections.Limits.SignedOutOperations = 2
		o.Execution.Charge = func(context.Context, execution.Charge) []execution.Quota {
			if charges.Add(1)%2 == 1 { // the subscription's beginning
				return nil
			}
			waiting <- struct{}{} // its event never comes
			return []execution.Quota{{RetryAfter: time.Hour}}
		}
	})
	c := s.open(t)
	for i := range 200 {
		id := strconv.Itoa(i % 2)
		if i >= 2 {
			c.send(`{"id":"` + id + `","type":"complete"}`)
		}
		c.subscribe(id, `subscription { tooSlow { n } }`)
		c.send(`{"type":"ping"}`)
		c.want(`{"type":"pong"}`) // and no refusal
		receive(t, waiting)
	}
}

func TestAuthenticationThatFailsCostsTheOperationOnly(t *testing.T) {
	var broken bool
	s := newTestServer(t, func(o *Options) {
		o.Execution.Authenticate = func(ctx context.Context, _ string) (context.Context, error) {
			if broken {
				return ctx, errors.New(secret)
			}
			return ctx, nil
		}
	})
	c := s.open(t)
	broken = true
	c.subscribe("1", `{viewer}`)
	if got := c.wantPart(`{"id":"1","type":"error"`, codes.Internal); strings.Contains(got, secret) {
		t.Error(got)
	}
	broken = false
	c.subscribe("1", `{viewer}`)
	c.wantPart(`"next"`)
}

func TestCloseSession(t *testing.T) {
	s := newTestServer(t, nil)
	open := func(name string) *client {
		c := s.dial(t)
		c.send(`{"type":"connection_init","payload":{"Authorization":"Bearer ` + name + `"}}`)
		c.want(`{"type":"connection_ack"}`)
		c.subscribe("1", `subscription{forever{n}}`)
		receive(t, s.resolver.Started)
		return c
	}
	ada, other, bob := open("ada"), open("ada"), open("bob")
	s.transport.CloseSession("unknown")
	s.transport.CloseSession("ada")
	ada.wantClose(4403, "Forbidden")
	other.wantClose(4403, "Forbidden")
	receive(t, s.resolver.Ended)
	receive(t, s.resolver.Ended)
	bob.subscribe("2", `{viewer}`)
	bob.wantPart(`{"viewer":"bob"}`)
	bob.Close()
	eventually(t, "the sessions are forgotten", s.transport.connections.Empty)
}

// TestCloseSessionLetsTheMutationAnswer: sign-out over the socket that it ends.
func TestCloseSessionLetsTheMutationAnswer(t *testing.T) {
	s := newTestServer(t, nil)
	c := s.dial(t)
	c.send(`{"type":"connection_init","payload":{"Authorization":"Bearer ada"}}`)
	c.want(`{"type":"connection_ack"}`)
	c.subscribe("stream", `subscription{forever{n}}`)
	receive(t, s.resolver.Started)
	c.subscribe("signOut", `mutation{holds}`)
	receive(t, s.resolver.Started)
	s.transport.CloseSession("ada")
	receive(t, s.resolver.Ended) // the stream ends immediately
	c.subscribe("late", `{viewer}`)
	close(s.resolver.Release)
	c.wantPart(`{"id":"signOut","type":"next"`, "released")
	c.want(`{"id":"signOut","type":"complete"}`)
	c.wantClose(4403, "Forbidden")
}

func TestClientCompletes(t *testing.T) {
	s := newTestServer(t, nil)
	c := s.open(t)
	c.send(`{"id":"unknown","type":"complete"}`) // it may have just ended, so it is ignored
	c.subscribe("1", `subscription{forever{n}}`)
	receive(t, s.resolver.Started)
	c.send(`{"id":"1","type":"complete"}`)
	receive(t, s.resolver.Ended)
	c.subscribe("1", `{viewer}`) // the id is free, and no message of the first one arrives
	c.wantPart(`{"id":"1","type":"next","payload":{"data":{"viewer":null}`)
	c.want(`{"id":"1","type":"complete"}`)

	c.subscribe("2", `subscription{flood(bytes:10)}`)
	receive(t, s.resolver.Started)
	c.wantPart(`"flood"`)
	c.send(`{"id":"2","type":"complete"}`)
	receive(t, s.resolver.Ended)
	c.send(`{"type":"ping"}`)
	for message := ""; message != `{"type":"pong"}`; {
		message = c.read()
	}
	c.subscribe("3", `{viewer}`) // no answer to the flood may come after the pong
	c.wantPart(`{"id":"3"`)
	c.want(`{"id":"3","type":"complete"}`)
}

func TestOperationsPerSocketAreBounded(t *testing.T) {
	s := newTestServer(t, func(o *Options) { o.Connections.Limits.Operations = 2 })
	c := s.open(t)
	for _, id := range []string{"1", "2"} {
		c.subscribe(id, `subscription{forever{n}}`)
		receive(t, s.resolver.Started)
	}
	c.subscribe("3", `{viewer}`)
	c.wantPart(`{"id":"3","type":"error"`, codes.RateLimited)
	c.send(`{"id":"1","type":"complete"}`)
	receive(t, s.resolver.Ended)
	eventually(t, "there is room again", func() bool {
		c.subscribe("4", `{viewer}`)
		if strings.Contains(c.read(), `"error"`) {
			return false
		}
		c.want(`{"id":"4","type":"complete"}`)
		return true
	})
}

func TestClientThatLeavesEndsItsOperations(t *testing.T) {
	s := newTestServer(t, nil)
	for name, leave := range map[string]func(*client){
		"with a close frame": func(c *client) {
			_ = c.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(1000, ""), time.Now().Add(patience))
			c.wantClose(1000, "")
		},
		"without": func(c *client) { c.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			c := s.open(t)
			c.subscribe("1", `subscription{forever{n}}`)
			c.subscribe("2", `{waits}`)
			receive(t, s.resolver.Started)
			receive(t, s.resolver.Started)
			leave(c)
			receive(t, s.resolver.Ended)
			receive(t, s.resolver.Ended)
		})
	}
}

func TestClientThatNeverReadsIsCutOff(t *testing.T) {
	s := newTestServer(t, func(o *Options) { o.WebSocket.WriteTimeout = testtime.Scale(500 * time.Millisecond) })
	c := s.open(t)
	c.subscribe("1", `subscription{flood(bytes:1000000)}`)
	receive(t, s.resolver.Started)
	receive(t, s.resolver.Ended)
	eventually(t, "the socket is gone", func() bool { return s.transport.Sockets() == 0 })
}

func TestClientThatDoesNotPongIsCutOff(t *testing.T) {
	s := newTestServer(t, func(o *Options) {
		o.WebSocket.PingInterval, o.WebSocket.PongTimeout = 10*time.Millisecond, testtime.Scale(time.Second)
	})
	c := s.open(t)
	c.SetPingHandler(func(string) error { return nil })
	c.wantClose(websocket.CloseGoingAway, "No sign of life")
}

// TestPingsMayTakeAsLongAsMessages: a write that times out ends the connection, so all writes must
// have the same time.
func TestPingsMayTakeAsLongAsMessages(t *testing.T) {
	s := newTestServer(t, func(o *Options) {
		o.WebSocket.PingInterval, o.WebSocket.PongTimeout, o.WebSocket.WriteTimeout = time.Millisecond, time.Hour, time.Hour
	})
	watched := httptest.NewUnstartedServer(s.transport)
	listener := &watchedListener{Listener: watched.Listener, allowed: make(chan time.Duration, 10_000)}
	watched.Listener = listener
	watched.Start()
	defer watched.Close()
	header := http.Header{"Sec-Websocket-Protocol": {"graphql-transport-ws"}}
	conn, _, err := websocket.DefaultDialer.DialContext(t.Context(), "ws"+strings.TrimPrefix(watched.URL, "http")+"/graphql", header)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for len(listener.allowed) > 0 { // those of the handshake
		<-listener.allowed
	}
	pings, pongs := 0, 0
	conn.SetPingHandler(func(string) error {
		pings++
		return conn.WriteControl(websocket.PingMessage, nil, time.Now().Add(patience))
	})
	conn.SetPongHandler(func(string) error {
		if pongs++; pongs < 5 {
			return nil
		}
		return conn.WriteMessage(websocket.TextMessage, []byte(`{"type":"ping"}`))
	})
	if _, _, err := conn.ReadMessage(); err != nil { // the pong message: pings and pongs came before
		t.Fatal(err)
	}
	if pings < 5 {
		t.Fatalf("%d pings", pings)
	}
	for len(listener.allowed) > 0 {
		if got := <-listener.allowed; got < time.Hour/2 {
			t.Fatalf("a write may take %v, want %v", got, time.Hour)
		}
	}
}

// watchedListener reports how long writes to its connections may take.
type watchedListener struct {
	net.Listener
	allowed chan time.Duration
}

func (l *watchedListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	return watchedConn{conn, l.allowed}, err
}

type watchedConn struct {
	net.Conn
	allowed chan time.Duration
}

func (c watchedConn) SetWriteDeadline(at time.Time) error {
	if !at.IsZero() {
		select {
		case c.allowed <- time.Until(at):
		default:
		}
	}
	return c.Conn.SetWriteDeadline(at)
}

func TestServerPingsKeepTheSocket(t *testing.T) {
	s := newTestServer(t, func(o *Options) {
		o.WebSocket.PingInterval, o.WebSocket.PongTimeout = 5*time.Millisecond, testtime.Patience()
	})
	c := s.open(t)
	pings := make(chan struct{}, 1000)
	answer := c.PingHandler()
	c.SetPingHandler(func(data string) error { pings <- struct{}{}; return answer(data) })
	go func() { // gorilla's client handles pings while it reads
		for {
			if _, _, err := c.ReadMessage(); err != nil {
				close(pings)
				return
			}
		}
	}()
	for range 20 {
		if _, ok := <-pings; !ok {
			t.Fatal("disconnected")
		}
	}
	c.Close()
	for range pings { // until the reader has ended
	}
}

func TestOrigins(t *testing.T) {
	s := newTestServer(t, func(o *Options) { o.WebSocket.AllowedOrigins = []string{"https://plaza.example"} })
	for origin, allowed := range map[string]bool{
		"":                           true,
		s.URL:                        true,
		"https://plaza.example":      true,
		"https://evil.example":       false,
		"https://plaza.example.evil": false,
		"null":                       false,
		"://":                        false,
	} {
		header := http.Header{"Sec-Websocket-Protocol": {"graphql-transport-ws"}}
		if origin != "" {
			header.Set("Origin", origin)
		}
		conn, resp, err := websocket.DefaultDialer.DialContext(t.Context(), "ws"+strings.TrimPrefix(s.URL, "http"), header)
		if allowed != (err == nil) {
			t.Errorf("%q: %v", origin, err)
		}
		if err == nil {
			conn.Close()
			continue
		}
		if body, _ := io.ReadAll(resp.Body); resp.StatusCode != http.StatusForbidden || !strings.Contains(string(body), codes.Forbidden) {
			t.Errorf("%q: %d %s", origin, resp.StatusCode, body)
		}
	}
}

func TestMalformedHandshake(t *testing.T) {
	s := newTestServer(t, nil)
	got := s.do(t, "GET", "/graphql", "", "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 12")
	if got.status != 400 || got.code(t) != codes.BadUserInput {
		t.Errorf("got %d %s", got.status, got.body)
	}
}

func TestShutdownClosesSockets(t *testing.T) {
	s := newTestServer(t, nil)
	idle, fresh, streaming, mutating := s.open(t), s.dial(t), s.open(t), s.open(t)
	streaming.subscribe("1", `subscription{forever{n}}`)
	receive(t, s.resolver.Started)
	mutating.subscribe("1", `mutation{holds}`)
	receive(t, s.resolver.Started)
	down := make(chan error, 1)
	go func() { down <- s.transport.Shutdown(context.Background()) }()
	idle.wantClose(1001, "Going away")
	fresh.wantClose(1001, "Going away")
	streaming.wantClose(1001, "Going away")
	receive(t, s.resolver.Ended)
	close(s.resolver.Release)
	mutating.wantPart("released")
	mutating.wantPart(`"complete"`)
	mutating.wantClose(1001, "Going away")
	if err := receive(t, down); err != nil {
		t.Error(err)
	}
	if _, resp, err := websocket.DefaultDialer.DialContext(t.Context(), "ws"+strings.TrimPrefix(s.URL, "http"), nil); err == nil || resp == nil || resp.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("a new socket after shutdown: %v", err)
	}
}

func TestShutdownDoesNotWaitForEver(t *testing.T) {
	s := newTestServer(t, func(o *Options) {
		o.WebSocket.FinishTimeout, o.WebSocket.CloseTimeout = 20*time.Millisecond, testtime.Scale(500*time.Millisecond)
	})
	c := s.open(t)
	c.subscribe("1", `mutation{holds}`) // never released
	receive(t, s.resolver.Started)
	silent := s.open(t) // never answers the close frame
	if err := s.transport.Shutdown(context.Background()); err != nil {
		t.Error(err)
	}
	c.wantClose(1001, "Going away")
	receive(t, s.resolver.Ended)
	silent.wantClose(1001, "Going away")
}

func TestPanicInSocketOperation(t *testing.T) {
	s := newTestServer(t, func(o *Options) {
		authenticate := o.Execution.Authenticate
		calls := 0
		o.Execution.Authenticate = func(ctx context.Context, authorization string) (context.Context, error) {
			if calls++; calls == 2 {
				panic(secret)
			}
			return authenticate(ctx, authorization)
		}
	})
	c := s.open(t)
	c.subscribe("1", `{viewer}`)
	if got := c.wantPart(`{"id":"1","type":"error"`, codes.Internal); strings.Contains(got, secret) {
		t.Error(got)
	}
	c.subscribe("2", `{viewer}`)
	c.wantPart(`"next"`)
}

// TestIdleSocketCostsOneGoroutine: gqlgen's own transport needs four.
func TestIdleSocketCostsOneGoroutine(t *testing.T) {
	const sockets = 50
	s := newTestServer(t, nil)
	s.open(t) // goroutines started by the first one remain
	before := runtime.NumGoroutine()
	for range sockets {
		s.open(t)
	}
	if more := runtime.NumGoroutine() - before; more > sockets+sockets/5 {
		t.Errorf("%d goroutines for %d sockets", more, sockets)
	}
}
