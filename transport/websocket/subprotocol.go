package websocket

import (
	"encoding/json"

	"github.com/vektah/gqlparser/v2/gqlerror"

	"plaza/transport/codes"
)

// The subprotocols of websockets, as in Sec-WebSocket-Protocol. A client that offers both gets the
// first.
const (
	subprotocolTransport = "graphql-transport-ws"
	subprotocolLegacy    = "graphql-ws" // of subscriptions-transport-ws
)

// subprotocol defines the form of a socket's messages: their types, and additional messages. The
// lifecycle of sockets and operations is the same in all subprotocols.
type subprotocol interface {
	// kinds translates the types of a client's messages.
	kinds() map[string]string
	// next returns the type of a message with a response.
	next() string
	// errors returns the message that ends a failed operation. errs has at least one error.
	errors(id json.RawMessage, errs gqlerror.List) []byte
	// malformed answers a message that could not be read. m is the part that could be read.
	malformed(to peer, m *message, err error)
	// rejected reports why connection_init is rejected, before the socket closes.
	rejected(to peer, err *gqlerror.Error)
	// keepAlive follows the acknowledgement, and then each ping.
	keepAlive(to peer)
	// starting prepares for a new operation with this id.
	starting(to peer, name string)
	// stopped answers the client's request to end an operation. running is false if the operation
	// had already ended.
	stopped(to peer, name string, running bool)
}

// peer has the methods of a socket that a subprotocol may use.
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
