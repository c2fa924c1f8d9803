package plazatest

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"plaza/internal/testtime"
)

// Socket speaks graphql-transport-ws to a Plaza.
type Socket struct {
	t    testing.TB
	Conn *websocket.Conn
}

// Message is a message of the protocol.
type Message struct {
	ID      string          `json:"id,omitempty"`
	Type    string          `json:"type"`
	Payload json.RawMessage `json:"payload,omitempty"`
}

// Send sends a message; the payload may be nil.
func (s *Socket) Send(id, kind string, payload any) {
	s.t.Helper()
	raw, err := json.Marshal(payload)
	if err != nil {
		s.t.Fatal(err)
	}
	if err := s.Conn.WriteJSON(Message{ID: id, Type: kind, Payload: raw}); err != nil {
		s.t.Fatal(err)
	}
}

// Next waits for the next message that is not a keep-alive.
func (s *Socket) Next() Message {
	s.t.Helper()
	var m Message
	_ = s.Conn.SetReadDeadline(time.Now().Add(testtime.Patience()))
	if err := s.Conn.ReadJSON(&m); err != nil {
		s.t.Fatalf("no message: %v", err)
	}
	return m
}

// Subscribe starts a subscription on a Plaza, and waits until it is active.
func (s *Socket) Subscribe(on *Plaza, id, operation string) {
	s.t.Helper()
	want := on.Server.Hub.Subscriptions() + 1
	s.Send(id, "subscribe", map[string]string{"query": operation})
	testtime.Eventually(s.t, "the subscription starts", func() bool { return on.Server.Hub.Subscriptions() >= want })
}

// TextOf reads the text of the post or comment of a "next" message.
func (s *Socket) TextOf(m Message) string {
	s.t.Helper()
	var payload struct {
		Data struct {
			NewsItemAdded struct{ Post struct{ Text string } }
			CommentAdded  struct{ Comment struct{ Text string } }
		}
	}
	if m.Type != "next" || json.Unmarshal(m.Payload, &payload) != nil {
		s.t.Fatalf("want next, got %+v %s", m, m.Payload)
	}
	return payload.Data.NewsItemAdded.Post.Text + payload.Data.CommentAdded.Comment.Text
}

// NewsSubscription subscribes to the news.
const NewsSubscription = `subscription { newsItemAdded { cursor event post { id text author { handle viewerFollows } wallOwner { handle } latestComments { text } } } }`

// MustClose reads until the server closes the socket because its session has ended.
func (s *Socket) MustClose() {
	s.t.Helper()
	for {
		var m Message
		_ = s.Conn.SetReadDeadline(time.Now().Add(testtime.Patience()))
		if err := s.Conn.ReadJSON(&m); err != nil {
			if !websocket.IsCloseError(err, 4403) {
				s.t.Errorf("want close code 4403, got %v", err)
			}
			return
		}
	}
}
