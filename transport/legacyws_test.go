package transport

import (
	"strings"
	"testing"
	"time"

	"plaza/transport/codes"
)

const legacyHeader = "Sec-Websocket-Protocol: " + "graphql-ws"

// openLegacy opens and initialises a socket that speaks graphql-ws.
func (s *testServer) openLegacy(t *testing.T, payload string) *client {
	t.Helper()
	c := s.dial(t, legacyHeader)
	c.send(`{"type":"connection_init","payload":` + payload + `}`)
	c.want(`{"type":"connection_ack"}`)
	c.want(`{"type":"ka"}`)
	return c
}

func (c *client) start(id, query string) {
	c.t.Helper()
	c.send(`{"id":` + quote(id) + `,"type":"start","payload":{"query":` + quote(query) + `}}`)
}

// TestLegacyMessages goes through the document of subscriptions-transport-ws. The query at the end
// of each case proves that the socket still works, and that no other message was sent.
func TestLegacyMessages(t *testing.T) {
	t.Parallel()
	s := newTestServer(t, nil)
	for name, test := range map[string]struct{ send, want []string }{
		"query": {
			[]string{`{"id":"1","type":"start","payload":{"query":"query A($n:Int){number(n:$n)} query B{viewer}","operationName":"A","variables":{"n":7}}}`},
			[]string{`{"id":"1","type":"data","payload":{"data":{"number":7}`, `{"id":"1","type":"complete"}`},
		},
		"mutation": {
			[]string{`{"id":"1","type":"start","payload":{"query":"mutation{setText(text:\"x\")}"}}`},
			[]string{`{"id":"1","type":"data","payload":{"data":{"setText":"x"}`, `{"id":"1","type":"complete"}`},
		},
		"subscription that ends by itself": {
			[]string{`{"id":"1","type":"start","payload":{"query":"subscription{ticks(count:2){n}}"}}`},
			[]string{`"type":"data","payload":{"data":{"ticks":{"n":0}}`, `"type":"data","payload":{"data":{"ticks":{"n":1}}`, `{"id":"1","type":"complete"}`},
		},
		"resolver error": {
			[]string{`{"id":"1","type":"start","payload":{"query":"{required}"}}`},
			[]string{`{"id":"1","type":"data","payload":{"errors":[{"message":"not there"`, `{"id":"1","type":"complete"}`},
		},
		"invalid operation": {
			[]string{`{"id":"1","type":"start","payload":{"query":"{nothing}"}}`},
			[]string{`{"id":"1","type":"error","payload":{"message":`},
		},
		"error while subscribed": {
			[]string{`{"id":"1","type":"start","payload":{"query":"subscription{tooSlow{n}}"}}`},
			[]string{`{"tooSlow":{"n":0}}`, `{"id":"1","type":"error","payload":{"message":"too slow","extensions":{"code":"SUBSCRIBER_TOO_SLOW"}}}`},
		},
		"text that is not Unicode": {
			[]string{`{"id":"1","type":"start","payload":{"query":"query($t:String!){echo(input:{text:$t})}","variables":{"t":"\ud800"}}}`},
			[]string{`{"id":"1","type":"error","payload":{"message":`},
		},
		"stop of an unknown id": {[]string{`{"id":"gone","type":"stop"}`}, nil},
		"start without payload": {
			[]string{`{"id":"1","type":"start"}`},
			[]string{`{"id":"1","type":"error","payload":{"message":"start payload is not an object"`},
		},
		"start without query": {
			[]string{`{"id":"1","type":"start","payload":{}}`},
			[]string{`{"id":"1","type":"error","payload":{"message":`},
		},
		"start without id": {
			[]string{`{"type":"start","payload":{"query":"{viewer}"}}`},
			[]string{`{"type":"connection_error","payload":{"message":"start has no id"`},
		},
		"stop without id": {
			[]string{`{"type":"stop"}`},
			[]string{`{"type":"connection_error","payload":{"message":"stop has no id"`},
		},
		"not JSON": {
			[]string{`{"type":`},
			[]string{`{"type":"connection_error","payload":{"message":"message is not a JSON object"`},
		},
		"no type": {
			[]string{`{}`},
			[]string{`{"type":"connection_error","payload":{"message":"message has no type"`},
		},
		"types of the other subprotocol": {
			[]string{`{"type":"ping"}`, `{"id":"1","type":"subscribe","payload":{"query":"{viewer}"}}`},
			[]string{`{"type":"connection_error","payload":{"message":"unknown message type"`, `{"type":"connection_error"`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := s.openLegacy(t, `null`)
			for _, message := range test.send {
				c.send(message)
			}
			for _, part := range test.want {
				c.wantPart(part)
			}
			c.start("last", `{viewer}`)
			c.wantPart(`{"id":"last","type":"data","payload":{"data":{"viewer":null}`)
			c.want(`{"id":"last","type":"complete"}`)
		})
	}
}

// TestLegacyStop: the client gets one complete, and nothing after it.
func TestLegacyStop(t *testing.T) {
	t.Parallel()
	s := newTestServer(t, nil)
	c := s.openLegacy(t, `{}`)
	c.start("1", `subscription { forever { n } }`)
	receive(t, s.resolver.Started)
	c.send(`{"id":"1","type":"stop"}`)
	for got := c.read(); got != `{"id":"1","type":"complete"}`; got = c.read() {
		if !strings.HasPrefix(got, `{"id":"1","type":"data"`) {
			t.Fatal(got)
		}
	}
	receive(t, s.resolver.Ended)
	c.send(`{"id":"1","type":"stop"}`)
	c.start("1", `{viewer}`)
	c.wantPart(`{"id":"1","type":"data"`)
	c.want(`{"id":"1","type":"complete"}`)
}

// TestLegacyStartAgain: an operation replaces the one with the same id, even if the new one can't
// start.
func TestLegacyStartAgain(t *testing.T) {
	t.Parallel()
	s := newTestServer(t, nil)
	c := s.openLegacy(t, `{}`)
	for _, payload := range []string{`7`, `{"query":"{viewer}","operationName":"\ud800"}`} {
		c.start("1", `{ waits }`)
		receive(t, s.resolver.Started)
		c.send(`{"id":"1","type":"start","payload":` + payload + `}`)
		receive(t, s.resolver.Ended)
		c.wantPart(`{"id":"1","type":"error"`)
	}
	c.start("1", `{ waits }`)
	receive(t, s.resolver.Started)
	c.start("1", `{viewer}`)
	receive(t, s.resolver.Ended)
	c.wantPart(`{"id":"1","type":"data","payload":{"data":{"viewer":null}`)
	c.want(`{"id":"1","type":"complete"}`)
}

func TestLegacyLimit(t *testing.T) {
	t.Parallel()
	s := newTestServer(t, func(o *Options) { o.Connections.Limits.Operations = 1 })
	c := s.openLegacy(t, `{}`)
	c.start("1", `{ waits }`)
	receive(t, s.resolver.Started)
	c.start("2", `{viewer}`)
	c.wantPart(`{"id":"2","type":"error","payload":{"message":`, codes.RateLimited)
}

// TestLegacyReplacementAtTheLimit: an operation that replaces another one has room, as soon as that
// has ended.
func TestLegacyReplacementAtTheLimit(t *testing.T) {
	t.Parallel()
	s := newTestServer(t, func(o *Options) { o.Connections.Limits.Operations = 1 })
	s.resolver.Ended = make(chan string) // a replaced query goes on until the test receives from it
	c := s.openLegacy(t, `{}`)
	c.start("1", `{ waits }`)
	receive(t, s.resolver.Started)
	c.start("1", `{ waits }`)
	c.start("1", `{ viewer }`)
	c.start("2", `{ viewer }`)
	c.wantPart(`{"id":"2","type":"error"`, codes.RateLimited)
	receive(t, s.resolver.Ended)
	c.wantPart(`{"id":"1","type":"data","payload":{"data":{"viewer":null}`)
	c.want(`{"id":"1","type":"complete"}`)
	if n := s.operations.Load(); n != 2 {
		t.Errorf("%d operations ran; the second was replaced while it waited", n)
	}
}

func TestLegacyConnection(t *testing.T) {
	t.Parallel()
	s := newTestServer(t, nil)
	for name, test := range map[string]struct {
		message, answer string
		code            int
	}{
		"terminate":       {`{"type":"connection_terminate"}`, ``, 1000},
		"unknown token":   {`{"type":"connection_init","payload":{"Authorization":"Bearer eve"}}`, `{"type":"connection_error","payload":{"message":"who are you?"`, 4403},
		"broken database": {`{"type":"connection_init","payload":{"Authorization":"Bearer broken"}}`, `{"type":"connection_error","payload":{"message":"internal server error"`, 1011},
		"no database":     {`{"type":"connection_init","payload":{"Authorization":"Bearer unavailable"}}`, `{"type":"connection_error","payload":{"message":"the database is unavailable"`, 1013},
		"no init":         {`{"id":"1","type":"start","payload":{"query":"{viewer}"}}`, ``, 4401},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := s.dial(t, legacyHeader)
			c.send(test.message)
			if test.answer != "" {
				c.wantPart(test.answer)
			}
			c.wantClose(test.code, "")
		})
	}
}

// TestLegacyKeepAlive: clients reconnect when keep-alives fail to appear.
func TestLegacyKeepAlive(t *testing.T) {
	t.Parallel()
	s := newTestServer(t, func(o *Options) {
		o.WebSocket.PingInterval, o.WebSocket.PongTimeout = time.Millisecond, patience
	})
	c := s.openLegacy(t, `{}`)
	c.want(`{"type":"ka"}`)
	c.want(`{"type":"ka"}`)
}

// TestLegacySignOut: a session that ends closes the sockets of both subprotocols alike.
func TestLegacySignOut(t *testing.T) {
	t.Parallel()
	s := newTestServer(t, nil)
	c := s.openLegacy(t, `{"Authorization":"Bearer ada"}`)
	c.start("1", `{ viewer }`)
	c.wantPart(`{"viewer":"ada"}`)
	c.want(`{"id":"1","type":"complete"}`)
	s.transport.CloseSession("ada")
	c.wantClose(4403, "Forbidden")
}
