package websocket

import (
	"bufio"
	"errors"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/gorilla/websocket"

	"plaza/transport/codes"
	"plaza/transport/connections"
	"plaza/transport/execution"
)

// Handler opens websockets.
type Handler struct {
	options     Options
	executor    *execution.Executor
	connections *connections.Registry
	upgrader    websocket.Upgrader
}

// New creates a handler. Its sockets run operations with the executor, and register with the
// registry of connections.
func New(executor *execution.Executor, among *connections.Registry, options Options) *Handler {
	options = options.withDefaults()
	return &Handler{options: options, executor: executor, connections: among, upgrader: newUpgrader(options)}
}

func newUpgrader(options Options) websocket.Upgrader {
	return websocket.Upgrader{
		HandshakeTimeout: options.InitTimeout,
		Subprotocols:     []string{subprotocolTransport, subprotocolLegacy},
		ReadBufferSize:   1024, // small, because idle sockets keep it
		WriteBufferSize:  4096,
		WriteBufferPool:  &sync.Pool{}, // so that idle sockets keep none
		CheckOrigin:      func(r *http.Request) bool { return originAllowed(r, options.AllowedOrigins) },
	}
}

// originAllowed checks the Origin, which browsers always send. A client without one is not a
// browser, so a foreign page cannot misuse it.
func originAllowed(r *http.Request, allowed []string) bool {
	origin := r.Header.Get("Origin")
	if origin == "" || slices.Contains(allowed, "*") || slices.Contains(allowed, origin) {
		return true
	}
	parsed, err := url.Parse(origin)
	return err == nil && parsed.Host != "" && strings.EqualFold(parsed.Host, r.Host)
}

// hijacker finds the connection below middleware that wraps the ResponseWriter, and packs its writes.
type hijacker struct{ http.ResponseWriter }

func (h hijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffers, err := http.NewResponseController(h.ResponseWriter).Hijack()
	return &packer{Conn: conn}, buffers, err
}

// IsHandshake reports whether a request asks for a websocket.
func IsHandshake(r *http.Request) bool { return websocket.IsWebSocketUpgrade(r) }

// Open opens a websocket, which stays open after Open has returned, or returns why it can't.
//
// The socket gets a new goroutine, because that of the request has a deep stack and keeps the
// request's buffers. An idle socket uses only this goroutine.
func (h *Handler) Open(w http.ResponseWriter, r *http.Request) *codes.Refusal {
	if h.connections.Closed() {
		return codes.ShuttingDown()
	}
	if limited := h.executor.Arrive(r.Context()); limited != nil {
		return codes.Limited(limited)
	}
	place, full := h.connections.Admit(r.Context())
	if full != nil {
		return full
	}
	conn, refusal := h.upgrade(w, r)
	if conn == nil {
		place.Leave()
		return refusal
	}
	k := newSocket(conn, r, h.executor, place, &h.options)
	go k.serve()
	return nil
}

// upgrade completes the handshake. If it fails on the way, both results are nil.
func (h *Handler) upgrade(w http.ResponseWriter, r *http.Request) (conn *websocket.Conn, refusal *codes.Refusal) {
	upgrader := h.upgrader
	upgrader.Error = func(_ http.ResponseWriter, _ *http.Request, status int, reason error) {
		code := codes.BadUserInput
		if status == http.StatusForbidden {
			code, reason = codes.Forbidden, errors.New("websockets from this origin are not allowed")
		}
		refusal = codes.Refusef(status, code, "%v", reason)
	}
	conn, err := upgrader.Upgrade(hijacker{w}, r, http.Header{"X-Request-Id": w.Header()["X-Request-Id"]})
	if err != nil {
		return nil, refusal
	}
	return conn, nil
}
