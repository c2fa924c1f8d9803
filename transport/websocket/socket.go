package websocket

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"

	"plaza/transport/connections"
	"plaza/transport/execution"
)

// socket is one websocket with its operations.
type socket struct {
	connection

	protocol     subprotocol
	executor     *execution.Executor
	place        *connections.Place
	operations   connections.Operations
	acknowledged atomic.Bool                      // connection_init was accepted
	timers       struct{ init, ping *time.Timer } // guarded by connection.mu

	// Only the reader uses these.
	initialised   bool // connection_init has arrived
	authorization string
}

func newSocket(conn *websocket.Conn, r *http.Request, executor *execution.Executor, place *connections.Place, options *Options) *socket {
	packing, _ := conn.NetConn().(*packer) // hijacker has made it
	k := &socket{
		connection:    connection{conn: conn, packing: packing, options: options},
		protocol:      protocolOf(conn.Subprotocol()),
		executor:      executor,
		place:         place,
		authorization: r.Header.Get("Authorization"),
	}
	k.ctx, k.cancel = context.WithCancel(context.WithoutCancel(r.Context()))
	conn.SetReadLimit(options.MaxMessageBytes)
	conn.SetPongHandler(func(string) error { return k.stayAlive() })
	conn.SetPingHandler(func(data string) error {
		k.executor.AwaitArrival(k.ctx)
		_ = k.control(websocket.PongMessage, []byte(data))
		return k.stayAlive()
	})
	k.mu.Lock() // the timers may fire before they are assigned
	defer k.mu.Unlock()
	k.timers.init = time.AfterFunc(options.InitTimeout, func() {
		k.close(closeInitTimeout, "Connection initialisation timeout")
	})
	k.timers.ping = time.AfterFunc(options.PingInterval, k.ping)
	return k
}

func protocolOf(name string) subprotocol {
	if name == subprotocolLegacy {
		return legacyWS{}
	}
	return transportWS{}
}

// ping sends a keep-alive. If a client does not answer, its read deadline expires.
func (k *socket) ping() {
	_ = k.control(websocket.PingMessage, nil)
	if k.acknowledged.Load() {
		k.protocol.keepAlive(k)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.closing && k.ctx.Err() == nil {
		k.timers.ping.Reset(k.options.PingInterval)
	}
}

// write sends a message that belongs to no operation.
func (k *socket) write(message []byte) bool {
	return k.send(func() bool { return true }, message)
}

// complete ends an operation that the client no longer listens to.
func (k *socket) complete(name string) bool { return k.operations.Stop(name) }

// Drain implements [connections.Connection]. Running queries and mutations get FinishTimeout.
func (k *socket) Drain(reason connections.Reason) {
	closed := sync.OnceFunc(func() {
		switch reason {
		case connections.SessionEnds:
			k.close(closeForbidden, "Forbidden")
		case connections.ServerEnds:
			k.close(websocket.CloseGoingAway, "Going away")
		}
	})
	if k.operations.Drain(func([]string) {}, closed) {
		late := time.AfterFunc(k.options.FinishTimeout, closed)
		context.AfterFunc(k.ctx, func() { late.Stop() })
	}
}

// end cleans up. When it returns, the socket's operations have ended.
func (k *socket) end() {
	k.Cut()
	k.mu.Lock()
	k.timers.init.Stop()
	k.timers.ping.Stop()
	k.mu.Unlock()
	k.operations.Wait()
	k.place.Leave()
}
