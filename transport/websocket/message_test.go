package websocket

import (
	"encoding/json"
	"strings"
	"testing"
)

// FuzzMessage: no input panics, accepted messages are complete, and an error fits a close frame.
func FuzzMessage(f *testing.F) {
	for _, seed := range []string{
		`{"type":"connection_init","payload":{"Authorization":"Bearer x"}}`,
		`{"type" : "ping" , "payload" : null }`,
		`{"type":"pong","payload": {} }`,
		`{"id":"1","type":"subscribe","payload":{"query":"{viewer}","variables":{"a":[1,{"b":"\ud800"}]},"operationName":null}}`,
		`{"id":"1","type":"complete"}`,
		`{"type":"next"}`,
		`{"type":"` + strings.Repeat("x", 200) + `"}`,
		`[]`, `null`, `"x"`, "\xff",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := parseMessage(data, transportWS{}.kinds())
		if err != nil {
			if reason := err.Error(); len(reason) == 0 || len(reason) > maxCloseReason {
				t.Fatalf("reason %q", reason)
			}
			return
		}
		if m.payload != nil && (m.payload[0] != '{' && m.kind != messageComplete || !json.Valid(m.payload)) {
			t.Fatalf("payload %q of %s", m.payload, m.kind)
		}
		switch m.kind {
		case messageInit:
			_, _ = m.authorization()
		case messagePing, messagePong:
			if !json.Valid(encodeMessage(messagePong, nil, m.payload)) {
				t.Fatalf("pong for %q", data)
			}
		case messageSubscribe:
			if m.id == "" || (m.request == nil) == (m.refusal == nil) || m.request != nil && m.request.Query == "" {
				t.Fatalf("incomplete: %+v", m)
			}
		case messageComplete:
			if m.id == "" {
				t.Fatal("no id")
			}
		default:
			t.Fatalf("type %q", m.kind)
		}
	})
}

// TestEcho: a pong repeats the payload of a ping, unless it is long.
func TestEcho(t *testing.T) {
	for _, c := range []struct{ length, want int }{{2, 2}, {maxEcho, maxEcho}, {maxEcho + 1, 0}} {
		m := message{payload: json.RawMessage("{" + strings.Repeat(" ", c.length-2) + "}")}
		if got := len(m.echo()); got != c.want {
			t.Errorf("%d bytes of a payload of %d are repeated, want %d", got, c.length, c.want)
		}
	}
}
