package websocket

import (
	"encoding/json"

	"github.com/vektah/gqlparser/v2/gqlerror"
)

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

func (transportWS) malformed(to peer, _ *message, err error) { to.close(closeBadRequest, err.Error()) }

func (transportWS) rejected(peer, *gqlerror.Error) {} // the close code is enough

func (transportWS) keepAlive(peer) {} // pings are frames

func (transportWS) starting(peer, string) {} // an id in use closes the socket

func (transportWS) stopped(peer, string, bool) {} // the client expects no answer
