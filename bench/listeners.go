package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
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

// Storm is a line that listeners read after their configuration: a crowd loses all its connections,
// and its members subscribe again.
type Storm struct {
	Crowd int `json:"crowd"`
}

// progressLine is a line that a process of listeners prints: it reports that all are subscribed, or
// that every member of a crowd has received Events events.
type progressLine struct {
	Ready  bool      `json:"ready"`
	Crowd  int       `json:"crowd"`
	Events int       `json:"events"`
	Half   time.Time `json:"half"` // when half of them had received it
	Most   time.Time `json:"most"` // when 99 of 100 had
	At     time.Time `json:"at"`   // when the last of them received it
}

// gathering is a crowd with its sockets.
type gathering struct {
	Crowd

	number  int
	url     string
	lines   chan<- progressLine
	sockets []*websocket.Conn

	mu     sync.Mutex
	events int         // that all have received
	times  []time.Time // when members received the next one
}

// note records that a member has received an event.
func (g *gathering) note() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.times = append(g.times, time.Now()); len(g.times) < len(g.Tokens) {
		return
	}
	n := len(g.times)
	g.events++
	g.lines <- progressLine{Crowd: g.number, Events: g.events, Half: g.times[n/2], Most: g.times[n*99/100], At: g.times[n-1]}
	g.times = g.times[:0]
}

// connect subscribes all members.
func (g *gathering) connect(listening context.Context) error {
	g.sockets = make([]*websocket.Conn, len(g.Tokens))
	return inParallel(listening, len(g.Tokens), func(ctx context.Context, i int) (err error) {
		if g.sockets[i], err = subscribe(ctx, g.url, g.Tokens[i], g.Subscription); err == nil {
			go receive(g.sockets[i], g.note)
		}
		return err
	})
}

// cut resets all connections. If they were closed, their ports would be in use for another minute,
// and storms would run out of ports.
func (g *gathering) cut() {
	for _, socket := range g.sockets {
		if socket == nil {
			continue
		}
		if connection, ok := socket.NetConn().(*net.TCPConn); ok {
			_ = connection.SetLinger(0)
		}
		_ = socket.Close()
	}
}

// Listen is the main function of a process of listeners: it reads a [Listening] as JSON, and prints
// lines until in is closed. It runs in a separate process so that its CPU time and memory are not
// counted as the server's.
func Listen(ctx context.Context, in io.Reader, out io.Writer) error {
	var l Listening
	decoder := json.NewDecoder(in)
	if err := decoder.Decode(&l); err != nil {
		return fmt.Errorf("the standard input does not have the expected JSON: %w", err)
	}
	lines := make(chan progressLine, 100)
	all := make([]*gathering, len(l.Crowds))
	for number, crowd := range l.Crowds {
		all[number] = &gathering{Crowd: crowd, number: number, url: l.URL, lines: lines}
	}
	defer func() {
		for _, g := range all {
			g.cut()
		}
	}()
	for _, g := range all {
		if err := g.connect(ctx); err != nil {
			return err
		}
	}
	ended := make(chan error, 1)
	go func() { ended <- weather(ctx, decoder, all) }()
	encoder := json.NewEncoder(out)
	for line := (progressLine{Ready: true}); ; {
		if err := encoder.Encode(line); err != nil {
			return err
		}
		select {
		case line = <-lines:
		case err := <-ended:
			return err
		}
	}
}

// weather reads storms until its input ends.
func weather(ctx context.Context, from *json.Decoder, all []*gathering) error {
	for {
		var s Storm
		if err := from.Decode(&s); err != nil {
			return nil //nolint:nilerr // the input was closed
		}
		if s.Crowd < 0 || s.Crowd >= len(all) {
			return fmt.Errorf("there is no crowd %d", s.Crowd)
		}
		all[s.Crowd].cut()
		if err := all[s.Crowd].connect(ctx); err != nil {
			return err
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
