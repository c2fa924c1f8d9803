package transport

import (
	"encoding/json"

	"github.com/vektah/gqlparser/v2/gqlerror"
)

// legacyWS is the subprotocol graphql-ws of subscriptions-transport-ws, an older library that is no
// longer maintained. Close codes are those of graphql-transport-ws, as its document names none.
type legacyWS struct{}

// The message types that only graphql-ws has.
const (
	legacyStart           = "start"
	legacyStop            = "stop"
	legacyData            = "data"
	legacyConnectionError = "connection_error"
	legacyKeepAlive       = "ka"
)

var legacyKinds = map[string]string{
	messageInit: messageInit, legacyStart: messageSubscribe, legacyStop: messageComplete, messageTerminate: messageTerminate,
}

func (legacyWS) kinds() map[string]string { return legacyKinds }

func (legacyWS) next() string { return legacyData }

// errors sends the first error only: the payload is one error, not a list.
func (legacyWS) errors(id json.RawMessage, errs gqlerror.List) []byte {
	return encodeMessage(messageError, id, encodeError(errs[0]))
}

// encodeError writes an error as JSON.
func encodeError(err *gqlerror.Error) []byte {
	payload, failure := json.Marshal(err)
	if failure != nil { // an extension that does not marshal
		return []byte(unmarshallable)
	}
	return payload
}

// malformed keeps the socket open: the document demands that the message is ignored. If it starts an
// operation with an id, only that operation fails.
func (p legacyWS) malformed(k *socket, m *message, err error) {
	problem := newError(CodeBadUserInput, "%v", err)
	if m.kind == messageSubscribe && m.id != "" {
		p.starting(k, m.id)
		k.send(nil, false, p.errors(marshalString(m.id), gqlerror.List{problem}))
		return
	}
	k.send(nil, false, encodeMessage(legacyConnectionError, nil, encodeError(problem)))
}

func (legacyWS) rejected(k *socket, err *gqlerror.Error) {
	k.send(nil, false, encodeMessage(legacyConnectionError, nil, encodeError(err)))
}

// keepAlive is a message of its own: its clients do not see pings, and reconnect when a keep-alive
// fails to appear after the first.
func (legacyWS) keepAlive(k *socket) { k.send(nil, false, encodeMessage(legacyKeepAlive, nil, nil)) }

// starting ends an operation with the same id, as the library's server does.
func (legacyWS) starting(k *socket, name string) { k.complete(name) }

func (legacyWS) stopped(k *socket, name string, running bool) {
	if running {
		k.send(nil, false, encodeMessage(messageComplete, marshalString(name), nil))
	}
}
