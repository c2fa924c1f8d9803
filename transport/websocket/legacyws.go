package websocket

import (
	"encoding/json"

	"github.com/vektah/gqlparser/v2/gqlerror"

	"plaza/transport/codes"
	"plaza/transport/request"
)

// legacyWS is the subprotocol graphql-ws of subscriptions-transport-ws, an older library that is no
// longer maintained. Its specification defines no close codes, so those of graphql-transport-ws are
// used.
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

// errors sends only the first error, because the payload is one error, not a list.
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

// malformed keeps the socket open, because the specification demands that the message is ignored.
// If it starts an operation with an id, only that operation fails.
func (p legacyWS) malformed(to peer, m *message, err error) {
	problem := codes.Errorf(codes.BadUserInput, "%v", err)
	if m.kind == messageSubscribe && m.id != "" {
		p.starting(to, m.id)
		to.write(p.errors(request.JSONString(m.id), gqlerror.List{problem}))
		return
	}
	to.write(encodeMessage(legacyConnectionError, nil, encodeError(problem)))
}

func (legacyWS) rejected(to peer, err *gqlerror.Error) {
	to.write(encodeMessage(legacyConnectionError, nil, encodeError(err)))
}

// keepAlive sends a separate message, because clients do not see pings. After the first keep-alive,
// they reconnect if another one is missing.
func (legacyWS) keepAlive(to peer) { to.write(encodeMessage(legacyKeepAlive, nil, nil)) }

// starting ends an operation with the same id, as the library's server does.
func (legacyWS) starting(to peer, name string) { to.complete(name) }

func (legacyWS) stopped(to peer, name string, running bool) {
	if running {
		to.write(encodeMessage(messageComplete, request.JSONString(name), nil))
	}
}
