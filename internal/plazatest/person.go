package plazatest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"plaza/internal/testtime"
)

// Person sends operations to a running Plaza.
type Person struct {
	URL, Token string

	// At is the address that a proxy reports for this person; "" means none. See ServeLimited.
	At string
	// Key is the idempotency key of this person's requests; "" means none.
	Key string
}

// Raw sends an operation, and returns the indented body.
func (p Person) Raw(t testing.TB, operation string) string {
	t.Helper()
	request := map[string]any{"query": operation}
	if rest, ok := strings.CutPrefix(operation, "VARIABLES "); ok {
		line, query, _ := strings.Cut(rest, "\n")
		request = map[string]any{"query": query, "variables": json.RawMessage(line)}
	}
	body, err := json.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}
	answer := p.Post(t, body)
	var indented bytes.Buffer
	if err := json.Indent(&indented, withoutCost(t, answer), "", "  "); err != nil {
		t.Fatalf("the answer is not JSON: %v: %s", err, answer)
	}
	return indented.String() + "\n"
}

// Post sends a request with the given body, and returns the body of the answer.
func (p Person) Post(t testing.TB, body []byte) []byte {
	t.Helper()
	_, answer := p.Send(t, body)
	return answer
}

// Send sends a request with the given body, and returns the answer and its body.
func (p Person) Send(t testing.TB, body []byte) (response *http.Response, answer []byte) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.URL+"/graphql", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	if p.Token != "" {
		request.Header.Set("Authorization", "Bearer "+p.Token)
	}
	if p.At != "" {
		request.Header.Set("X-Forwarded-For", p.At)
	}
	if p.Key != "" {
		request.Header.Set("Idempotency-Key", p.Key)
	}
	response, err = http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	answer, err = io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, answer
}

// withoutCost removes extensions.cost from an answer. It keeps the order of the other fields.
func withoutCost(t testing.TB, answer []byte) []byte {
	t.Helper()
	var parts struct {
		Errors json.RawMessage `json:"errors,omitempty"`
		Data   json.RawMessage `json:"data,omitempty"`
	}
	if err := json.Unmarshal(answer, &parts); err != nil {
		t.Fatalf("%v: %s", err, answer)
	}
	kept, err := json.Marshal(parts)
	if err != nil {
		t.Fatal(err)
	}
	return kept
}

// Do sends an operation with variables, and reads its data into into; errors fail the test.
func (p Person) Do(t testing.TB, operation string, variables map[string]any, into any) {
	t.Helper()
	body, err := json.Marshal(map[string]any{"query": operation, "variables": variables})
	if err != nil {
		t.Fatal(err)
	}
	var answer struct {
		Data   json.RawMessage
		Errors json.RawMessage
	}
	raw := p.Post(t, body)
	if err := json.Unmarshal(raw, &answer); err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
	if len(answer.Errors) > 0 {
		t.Fatalf("errors: %s", answer.Errors)
	}
	if into != nil {
		if err := json.Unmarshal(answer.Data, into); err != nil {
			t.Fatalf("%v: %s", err, answer.Data)
		}
	}
}

// Connect opens a websocket for a person, and waits for connection_ack.
func (p Person) Connect(t testing.TB) *Socket {
	t.Helper()
	s := p.dial(t)
	if m := s.Next(); m.Type != "connection_ack" {
		t.Fatalf("want connection_ack, got %+v", m)
	}
	return s
}

// Rejected opens a websocket for a person that the server rejects, and returns the code of the close
// frame.
func (p Person) Rejected(t testing.TB) (code int) {
	t.Helper()
	s := p.dial(t)
	_ = s.Conn.SetReadDeadline(time.Now().Add(testtime.Patience()))
	_, message, err := s.Conn.ReadMessage()
	if closed, ok := errors.AsType[*websocket.CloseError](err); ok {
		return closed.Code
	}
	t.Errorf("not closed: %s, %v", message, err)
	return 0
}

// dial opens a websocket for a person, and sends connection_init.
func (p Person) dial(t testing.TB) *Socket {
	t.Helper()
	dialer := websocket.Dialer{Subprotocols: []string{"graphql-transport-ws"}}
	conn, response, err := dialer.DialContext(t.Context(), "ws"+strings.TrimPrefix(p.URL, "http")+"/graphql", http.Header{})
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	t.Cleanup(func() { _ = conn.Close() })
	s := &Socket{t, conn}
	payload := map[string]string{}
	if p.Token != "" {
		payload["Authorization"] = "Bearer " + p.Token
	}
	s.Send("", "connection_init", payload)
	return s
}

// IDOf reads a user's id.
func (p Person) IDOf(t testing.TB, handle string) string {
	t.Helper()
	var answer struct{ User struct{ ID string } }
	p.Do(t, `query($handle: String!) { user(handle: $handle) { id } }`, map[string]any{"handle": handle}, &answer)
	return answer.User.ID
}

// Mutate runs a mutation that takes one input, and fails the test on userErrors. It returns the id
// of the object, if it has one.
func (p Person) Mutate(t testing.TB, mutation, fields string, input map[string]any) string {
	t.Helper()
	inputType := strings.ToUpper(mutation[:1]) + mutation[1:] + "Input!"
	var answer struct {
		Payload struct {
			Post, Comment, Circle, User struct{ ID string }
			UserErrors                  []struct{ Code, Message string }
		}
	}
	p.Do(t, `mutation($in: `+inputType+`) { payload: `+mutation+`(input: $in) { `+fields+` userErrors { code message } } }`, map[string]any{"in": input}, &answer)
	if len(answer.Payload.UserErrors) > 0 {
		t.Fatalf("%s: %v", mutation, answer.Payload.UserErrors)
	}
	return answer.Payload.Post.ID + answer.Payload.Comment.ID + answer.Payload.Circle.ID
}

// Status writes a post with an audience.
func (p Person) Status(t testing.TB, text string, audience map[string]any) string {
	t.Helper()
	return p.Mutate(t, "createPost", "post { id }", map[string]any{"content": map[string]any{"status": map[string]any{"text": text}}, "audience": audience})
}

// Public is the audience of a post for everyone.
var Public = map[string]any{"kind": "PUBLIC"}

// Follow lets a person follow another.
func (p Person) Follow(t testing.TB, handle string) {
	t.Helper()
	p.Mutate(t, "followUser", "user { id }", map[string]any{"userId": p.IDOf(t, handle)})
}

// DeleteComment deletes a comment.
func (p Person) DeleteComment(t testing.TB, comment string) {
	t.Helper()
	p.Mutate(t, "deleteComment", "", map[string]any{"commentId": comment})
}

// Comment writes a comment, and returns its id.
func (p Person) Comment(t testing.TB, post, text string) string {
	t.Helper()
	return p.Mutate(t, "addComment", "comment { id }", map[string]any{"postId": post, "text": text})
}
