package websocket

import (
	"encoding/json"

	"github.com/vektah/gqlparser/v2/gqlerror"

	"plaza/transport/codes"
)

// The subprotocols of websockets, as Sec-WebSocket-Protocol names them. A client that offers both
// gets the first.
const (
	subprotocolTransport = "graphql-transport-ws"
	subprotocolLegacy    = "graphql-ws" // of subscriptions-transport-ws
)

// subprotocol is the wording of a socket: what messages are called, and what is said in addition.
// The lifecycle of sockets and operations is the same in all.
type subprotocol interface {
	// kinds translates the types of a client's messages.
	kinds() map[string]string
	// next is the type of a message with a response.
	next() string
	// errors is the message that ends an operation that failed; errs has at least one.
	errors(id json.RawMessage, errs gqlerror.List) []byte
	// malformed answers a message that could not be read; m is the part that could.
	malformed(to peer, m *message, err error)
	// rejected says why connection_init is rejected, before the socket closes.
	rejected(to peer, err *gqlerror.Error)
	// keepAlive follows the acknowledgement, and then each ping.
	keepAlive(to peer)
	// starting prepares for a new operation with this id.
	starting(to peer, name string)
	// stopped answers the end of an operation that the client has asked for; running is false if it
	// had already ended.
	stopped(to peer, name string, running bool)
}

// peer is what a subprotocol may do with its socket.
type peer interface {
	// write sends a message, and returns false if the socket is closed.
	write(message []byte) bool
	// close starts the closing handshake.
	close(code int, reason string)
	// complete ends the operation with this id, and returns false if there is none.
	complete(name string) bool
}

// unmarshallable is sent instead of an error whose extensions have no JSON.
const unmarshallable = `{"message":"internal server error","extensions":{"code":"` + codes.Internal + `"}}`
