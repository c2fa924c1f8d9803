package transport

import (
	"encoding/json"

	"github.com/vektah/gqlparser/v2/gqlerror"
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
	malformed(k *socket, m *message, err error)
	// rejected says why connection_init is rejected, before the socket closes.
	rejected(k *socket, err *gqlerror.Error)
	// keepAlive follows the acknowledgement, and then each ping.
	keepAlive(k *socket)
	// starting prepares for a new operation with this id.
	starting(k *socket, name string)
	// stopped answers the end of an operation that the client has asked for; running is false if it
	// had already ended.
	stopped(k *socket, name string, running bool)
}

func protocolOf(name string) subprotocol {
	if name == subprotocolLegacy {
		return legacyWS{}
	}
	return transportWS{}
}

// transportWS is graphql-transport-ws.
type transportWS struct{}

var transportKinds = map[string]string{
	messageInit: messageInit, messageAck: messageAck, messagePing: messagePing, messagePong: messagePong,
	messageSubscribe: messageSubscribe, messageNext: messageNext, messageError: messageError, messageComplete: messageComplete,
}

func (transportWS) kinds() map[string]string { return transportKinds }

func (transportWS) next() string { return messageNext }

func (transportWS) errors(id json.RawMessage, errs gqlerror.List) []byte {
	payload, err := json.Marshal(errs)
	if err != nil { // an extension that does not marshal
		payload = []byte("[" + unmarshallable + "]")
	}
	return encodeMessage(messageError, id, payload)
}

// unmarshallable is sent instead of an error whose extensions have no JSON.
const unmarshallable = `{"message":"internal server error","extensions":{"code":"` + CodeInternal + `"}}`

func (transportWS) malformed(k *socket, _ *message, err error) { k.close(closeBadRequest, err.Error()) }

func (transportWS) rejected(*socket, *gqlerror.Error) {} // the close code says it

func (transportWS) keepAlive(*socket) {} // pings are frames

func (transportWS) starting(*socket, string) {} // an id in use costs the socket

func (transportWS) stopped(*socket, string, bool) {} // the client expects no answer
