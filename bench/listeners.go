package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"
)

// Listening configures a process of listeners: it opens a websocket for each subscriber of each
// crowd, and reports when all of a crowd have received an event.
type Listening struct {
	URL    string  `json:"url"` // of the websockets
	Crowds []Crowd `json:"crowds"`
}

// Crowd is a number of subscribers who all send the same subscription.
type Crowd struct {
	Subscription string   `json:"subscription"`
	Tokens       []string `json:"tokens"` // of its members; each has its own socket
}

// progressLine is a line that a process of listeners prints: it reports that all are subscribed, or
// that every member of a crowd has received Events events.
type progressLine struct {
	Ready  bool      `json:"ready"`
	Crowd  int       `json:"crowd"`
	Events int64     `json:"events"`
	At     time.Time `json:"at"` // when the last of them received it
}

// Listen is the main function of a process of listeners: it reads a [Listening] as JSON, and prints
// lines until in is closed. It runs in a separate process so that its CPU time and memory are not
// counted as the server's.
func Listen(ctx context.Context, in io.Reader, out io.Writer) error {
	listening, stop := context.WithCancel(ctx)
	defer stop()
	var l Listening
	decoder := json.NewDecoder(in)
	if err := decoder.Decode(&l); err != nil {
		return fmt.Errorf("the standard input does not have the expected JSON: %w", err)
	}
	lines := make(chan progressLine)
	for number, crowd := range l.Crowds {
		var received atomic.Int64
		members := int64(len(crowd.Tokens))
		note := func() {
			if n := received.Add(1); n%members == 0 {
				lines <- progressLine{Crowd: number, Events: n / members, At: time.Now()}
			}
		}
		err := inParallel(listening, len(crowd.Tokens), func(ctx context.Context, i int) error {
			socket, err := subscribe(ctx, l.URL, crowd.Tokens[i], crowd.Subscription)
			if err != nil {
				return err
			}
			context.AfterFunc(listening, func() { _ = socket.Close() })
			go receive(socket, note)
			return nil
		})
		if err != nil {
			return err
		}
	}
	ended := make(chan struct{})
	go func() { _, _ = io.Copy(io.Discard, in); close(ended) }()
	encoder := json.NewEncoder(out)
	for line := (progressLine{Ready: true}); ; {
		if err := encoder.Encode(line); err != nil {
			return err
		}
		select {
		case line = <-lines:
		case <-ended:
			return nil
		}
	}
}

var aNext = []byte(`"type":"next"`)

func receive(socket *websocket.Conn, note func()) {
	for {
		_, message, err := socket.ReadMessage()
		if err != nil {
			return
		}
		if bytes.Contains(message, aNext) {
			note()
		} else {
			fmt.Fprintf(os.Stderr, "a subscriber received %.300s\n", message)
		}
	}
}

// subscribe opens a websocket, and sends one subscription.
func subscribe(ctx context.Context, url, token, subscription string) (*websocket.Conn, error) {
	dialer := websocket.Dialer{Subprotocols: []string{"graphql-transport-ws"}, ReadBufferSize: 1024, WriteBufferSize: 1024}
	socket, response, err := dialer.DialContext(ctx, url, http.Header{"Authorization": {"Bearer " + token}})
	if err != nil {
		return nil, err
	}
	_ = response.Body.Close()
	payload, err := json.Marshal(map[string]string{"query": subscription})
	if err != nil {
		return nil, err
	}
	for _, message := range []string{`{"type":"connection_init"}`, `{"id":"1","type":"subscribe","payload":` + string(payload) + `}`} {
		if err := socket.WriteMessage(websocket.TextMessage, []byte(message)); err != nil {
			return nil, err
		}
	}
	_, _, err = socket.ReadMessage() // connection_ack
	return socket, err
}
