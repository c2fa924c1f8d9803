package transport

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/gorilla/websocket"
)

// maxCloseReason is what RFC 6455 leaves for the reason in a close frame, in bytes.
const maxCloseReason = 123

func newUpgrader(options Options) websocket.Upgrader {
	return websocket.Upgrader{
		HandshakeTimeout: options.InitTimeout,
		Subprotocols:     []string{subprotocolTransport, subprotocolLegacy},
		ReadBufferSize:   1024, // idle sockets hold it
		WriteBufferSize:  4096,
		WriteBufferPool:  &sync.Pool{}, // idle sockets hold none
		CheckOrigin:      func(r *http.Request) bool { return originAllowed(r, options.AllowedOrigins) },
	}
}

// originAllowed: browsers always send an Origin; a client without one is not a browser, and can't
// be misled by a page.
func originAllowed(r *http.Request, allowed []string) bool {
	origin := r.Header.Get("Origin")
	if origin == "" || slices.Contains(allowed, "*") || slices.Contains(allowed, origin) {
		return true
	}
	parsed, err := url.Parse(origin)
	return err == nil && parsed.Host != "" && strings.EqualFold(parsed.Host, r.Host)
}

// hijacker finds the connection under middleware that wraps the ResponseWriter.
type hijacker struct{ http.ResponseWriter }

func (h hijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	return http.NewResponseController(h.ResponseWriter).Hijack()
}

// serveWebSocket upgrades the connection, and leaves it to a goroutine of its own: that of the
// request has a deep stack, and holds the request's buffers. An idle socket uses only that
// goroutine.
func (s *Server) serveWebSocket(w http.ResponseWriter, r *http.Request) {
	conn, seats := s.upgrade(w, r)
	if conn == nil {
		s.seats.leave(seats...)
		s.busy.Done()
		return
	}
	k := newSocket(s, conn, r)
	k.seats = seats
	go func() {
		defer s.busy.Done()
		k.serve()
	}()
}

// upgrade opens a websocket, or answers why not; then the connection is nil. It returns the seats
// that were taken, in either case.
func (s *Server) upgrade(w http.ResponseWriter, r *http.Request) (*websocket.Conn, []seat) {
	if s.closedToSockets() {
		s.refuse(w, r, http.StatusServiceUnavailable, errShuttingDown())
		return nil, nil
	}
	if limited := s.arrive(r.Context()); limited != nil {
		s.refuse(w, r, http.StatusTooManyRequests, limited)
		return nil, nil
	}
	taken, full := s.admit(r.Context())
	if full != nil {
		s.refuse(w, r, full.status, full.err)
		return nil, nil
	}
	upgrader := s.upgrader
	upgrader.Error = func(w http.ResponseWriter, r *http.Request, status int, reason error) {
		code := CodeBadUserInput
		if status == http.StatusForbidden {
			code, reason = CodeForbidden, errors.New("websockets from this origin are not allowed")
		}
		s.refuse(w, r, status, newError(code, "%v", reason))
	}
	conn, err := upgrader.Upgrade(hijacker{w}, r, http.Header{"X-Request-Id": w.Header()["X-Request-Id"]})
	if err != nil {
		return nil, taken // upgrader.Error has answered
	}
	return conn, taken
}

// socket is one websocket. Its reader is the goroutine of serve.
type socket struct {
	server       *Server
	conn         *websocket.Conn
	protocol     subprotocol
	acknowledged atomic.Bool // connection_init was accepted
	ctx          context.Context
	cancel       context.CancelFunc
	timers       struct{ init, ping *time.Timer }

	// Only the reader uses these.
	initialised   bool // connection_init has come
	authorization string
	session       string // the key in Server.sessions; guarded by Server.mu
	maxOperations int
	seats         []seat

	writing sync.Mutex // held while a message is written, and to prevent writes

	mu         sync.Mutex
	closing    bool   // a close frame is on its way: nothing else may follow
	draining   func() // closes the socket once no query or mutation is left; nil as long as new ones may come
	operations map[string]*socketOperation
	running    int            // goroutines of operations, stopped ones included
	operating  sync.WaitGroup // the same, to wait for
}

func newSocket(s *Server, conn *websocket.Conn, r *http.Request) *socket {
	k := &socket{
		server:     s,
		conn:       conn,
		protocol:   protocolOf(conn.Subprotocol()),
		operations: map[string]*socketOperation{},
	}
	k.ctx, k.cancel = context.WithCancel(context.WithoutCancel(r.Context()))
	k.authorization = r.Header.Get("Authorization")
	conn.SetReadLimit(s.options.MaxMessageBytes)
	conn.SetPongHandler(func(string) error { return k.stayAlive() })
	conn.SetPingHandler(func(data string) error {
		_ = k.control(websocket.PongMessage, []byte(data))
		return k.stayAlive()
	})
	k.mu.Lock() // the timers may fire before they are assigned
	defer k.mu.Unlock()
	k.timers.init = time.AfterFunc(s.options.InitTimeout, func() {
		k.close(closeInitTimeout, "Connection initialisation timeout")
	})
	k.timers.ping = time.AfterFunc(s.options.PingInterval, k.ping)
	return k
}

// serve reads from the socket until it ends.
func (k *socket) serve() {
	defer k.end()
	k.server.addSocket(k)
	defer k.server.removeSocket(k)
	if k.conn.Subprotocol() == "" {
		k.close(closeNotAcceptable, "Subprotocol not acceptable")
	}
	k.read()
}

// read handles message after message until the connection fails or the client answers our close
// frame.
func (k *socket) read() {
	stopHurry := context.AfterFunc(k.server.hurry, k.cut)
	defer stopHurry()
	for {
		if err := k.stayAlive(); err != nil {
			return
		}
		kind, data, err := k.conn.ReadMessage()
		if err != nil {
			if os.IsTimeout(err) {
				k.close(websocket.CloseGoingAway, "No sign of life")
			}
			k.linger(err)
			return
		}
		switch {
		case k.isClosing(): // messages that still arrive are ignored
		case kind != websocket.TextMessage:
			k.close(closeBadRequest, "Messages must be text")
		case !utf8.Valid(data):
			k.close(websocket.CloseInvalidFramePayloadData, "Invalid UTF-8")
		default:
			k.handleApart(data)
		}
	}
}

// handleApart lets another goroutine handle a message, and waits for it: the reader's stack remains
// small, which an idle socket keeps.
func (k *socket) handleApart(data []byte) {
	handled := make(chan struct{})
	go func() {
		defer close(handled)
		defer func() {
			if value := recover(); value != nil { // otherwise it ends the process
				_ = k.server.recovered(k.ctx, value)
				k.close(websocket.CloseInternalServerErr, "Internal server error")
			}
		}()
		k.handle(data)
	}()
	<-handled
}

// stayAlive extends the deadline for the client's next sign of life. Once the socket is closing,
// the deadline of the closing handshake remains.
func (k *socket) stayAlive() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closing {
		return nil
	}
	return k.conn.SetReadDeadline(time.Now().Add(k.server.options.PingInterval + k.server.options.PongTimeout))
}

// linger reads what the client is still sending after a frame that gorilla rejected (it has sent
// the close frame itself): closing immediately would reset the connection, and the client might
// never see the code.
func (k *socket) linger(err error) {
	k.abandon()
	var closed *websocket.CloseError
	var network net.Error
	if errors.As(err, &closed) || errors.As(err, &network) {
		return
	}
	conn := k.conn.NetConn()
	_ = conn.SetReadDeadline(time.Now().Add(k.server.options.CloseTimeout))
	_, _ = io.Copy(io.Discard, io.LimitReader(conn, 16*k.server.options.MaxMessageBytes))
}

// control writes a ping or pong. It may take as long as a message, because a write that fails ends
// the connection.
func (k *socket) control(kind int, data []byte) error {
	return k.conn.WriteControl(kind, data, time.Now().Add(k.server.options.WriteTimeout))
}

// ping sends a keep-alive. A client that does not answer runs into its read deadline.
func (k *socket) ping() {
	_ = k.control(websocket.PingMessage, nil)
	if k.acknowledged.Load() {
		k.protocol.keepAlive(k)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.closing && k.ctx.Err() == nil {
		k.timers.ping.Reset(k.server.options.PingInterval)
	}
}

// close starts the closing handshake: operations end, the client gets the code, and then has
// CloseTimeout to answer. Only the first call counts.
func (k *socket) close(code int, reason string) {
	k.mu.Lock()
	if k.closing {
		k.mu.Unlock()
		return
	}
	k.closing = true
	k.mu.Unlock()
	k.cancel()
	frame := websocket.FormatCloseMessage(code, truncate(reason, maxCloseReason))
	err := k.conn.WriteControl(websocket.CloseMessage, frame, time.Now().Add(k.server.options.CloseTimeout))
	if err != nil { // the client does not read
		k.cut()
		return
	}
	_ = k.conn.NetConn().SetReadDeadline(time.Now().Add(k.server.options.CloseTimeout))
}

func (k *socket) isClosing() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.closing
}

// drain rejects new operations, ends subscriptions, lets queries and mutations finish within
// FinishTimeout, and closes.
func (k *socket) drain(code int, reason string) {
	k.mu.Lock()
	if k.draining != nil || k.closing {
		k.mu.Unlock()
		return
	}
	k.draining = sync.OnceFunc(func() { k.close(code, reason) })
	late := time.AfterFunc(k.server.options.FinishTimeout, k.draining)
	context.AfterFunc(k.ctx, func() { late.Stop() })
	for _, op := range k.operations {
		if op.streaming {
			op.stop()
		}
	}
	k.mu.Unlock()
	k.finishDraining()
}

// finishDraining closes a draining socket when its last query or mutation is done.
func (k *socket) finishDraining() {
	k.mu.Lock()
	done := k.draining
	for _, op := range k.operations {
		if !op.stopped {
			done = nil
		}
	}
	k.mu.Unlock()
	if done != nil {
		done()
	}
}

// abandon ends the operations and all writing.
func (k *socket) abandon() {
	k.mu.Lock()
	k.closing = true
	k.mu.Unlock()
	k.cancel()
}

// cut ends the connection without a word.
func (k *socket) cut() {
	k.abandon()
	_ = k.conn.Close()
}

// end cleans up: when it returns, the socket's operations have ended.
func (k *socket) end() {
	k.cut()
	k.mu.Lock()
	k.timers.init.Stop()
	k.timers.ping.Stop()
	k.mu.Unlock()
	k.operating.Wait()
	k.server.seats.leave(k.seats...)
}

// send writes one message if the operation it belongs to (nil: none) is still wanted; last releases
// the operation's id first, so that the client, once it has the message, can reuse the id.
func (k *socket) send(op *socketOperation, last bool, data []byte) bool {
	k.writing.Lock()
	defer k.writing.Unlock()
	if !k.mayWrite(op, last) {
		return false
	}
	_ = k.conn.SetWriteDeadline(time.Now().Add(k.server.options.WriteTimeout))
	if err := k.conn.WriteMessage(websocket.TextMessage, data); err != nil {
		k.cut()
		return false
	}
	return true
}

func (k *socket) mayWrite(op *socketOperation, last bool) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closing || op != nil && op.stopped {
		return false
	}
	if last && op != nil {
		k.forget(op)
	}
	return true
}
