package transport

import (
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/gorilla/websocket"

	"plaza/transport/codes"
	"plaza/transport/connections"
)

// handshake asks for a websocket.
func (s *testServer) handshake(t *testing.T) (*websocket.Conn, *http.Response) {
	t.Helper()
	conn, response, err := websocket.DefaultDialer.DialContext(t.Context(), "ws"+strings.TrimPrefix(s.URL, "http")+"/graphql",
		http.Header{"Sec-Websocket-Protocol": {"graphql-transport-ws"}})
	if response == nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	return conn, response
}

// TestSocketsAreLimited: the handshake refuses one too many, and closing one makes room.
func TestSocketsAreLimited(t *testing.T) {
	for limit, c := range map[string]struct {
		set    func(*connections.Limits)
		status int
	}{
		"sockets":         {func(l *connections.Limits) { l.Server = 3 }, http.StatusServiceUnavailable},
		"sockets-address": {func(l *connections.Limits) { l.Client = 3 }, http.StatusTooManyRequests},
	} {
		t.Run(limit, func(t *testing.T) {
			var refused atomic.Value
			s := newTestServer(t, func(o *Options) {
				c.set(&o.Connections.Limits)
				o.Connections.Refused = func(limit string) { refused.Store(limit) }
			})
			open := []*client{s.open(t), s.open(t), s.dial(t)}
			_, response := s.handshake(t)
			if response.StatusCode != c.status || response.Header.Get("Retry-After") != "1" || refused.Load() != limit {
				t.Errorf("the fourth socket: %d %v, refused by %v", response.StatusCode, response.Header, refused.Load())
			}
			if got := s.query(t, `{ viewer }`); got.status != http.StatusOK {
				t.Errorf("a request beside full sockets: %d", got.status)
			}
			open[1].Close()
			eventually(t, "there is room again", func() bool {
				conn, _ := s.handshake(t)
				if conn != nil {
					_ = conn.Close()
				}
				return conn != nil
			})
		})
	}
}

// TestUsersHaveLimitedSockets: there is a limit for each user, and for each signed-out client.
func TestUsersHaveLimitedSockets(t *testing.T) {
	s := newTestServer(t, func(o *Options) {
		o.Connections.Limits = connections.Limits{User: 2, SignedOut: 1, Operations: 3, SignedOutOperations: 1}
		o.Connections.UserOf = o.Connections.SessionKey
	})
	join := func(token string) *client {
		t.Helper()
		c := s.dial(t)
		c.send(`{"type":"connection_init","payload":{"Authorization":` + quote(token) + `}}`)
		return c
	}
	const ada, bob, ack = "Bearer ada", "Bearer bob", `{"type":"connection_ack"}`
	var last *client
	for _, token := range []string{ada, bob, "", ada} {
		last = join(token)
		last.want(ack)
	}
	for _, token := range []string{ada, ""} {
		join(token).wantClose(websocket.CloseTryAgainLater, "Too many sockets")
	}
	for _, id := range []string{"1", "2", "3"} {
		last.subscribe(id, `subscription{forever{n}}`)
		receive(t, s.resolver.Started)
	}
	last.subscribe("4", `{viewer}`)
	last.wantPart(`{"id":"4","type":"error"`, codes.RateLimited, "more than 3 concurrent operations")
	last.Close()
	eventually(t, "there is room again", func() bool {
		c := join(ada)
		_, data, err := c.ReadMessage()
		return err == nil && string(data) == ack
	})
}

// TestSeatsAreLeft: after many sockets have opened and closed concurrently, and some were refused,
// no seats are taken.
func TestSeatsAreLeft(t *testing.T) {
	s := newTestServer(t, func(o *Options) { o.Connections.Limits = connections.Limits{Server: 7, Client: 5, SignedOut: 3} })
	var all sync.WaitGroup
	for range 12 {
		all.Go(func() {
			for range 5 {
				conn, _ := s.handshake(t)
				if conn == nil {
					continue
				}
				_ = conn.WriteMessage(websocket.TextMessage, []byte(`{"type":"connection_init"}`))
				_, _, _ = conn.ReadMessage() // an acknowledgement, or the end
				_ = conn.Close()
			}
		})
	}
	all.Wait()
	eventually(t, "no seat is taken", s.transport.connections.Empty)
}
