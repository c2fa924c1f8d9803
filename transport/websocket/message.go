package websocket

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"plaza/transport/request"
)

// The message types of graphql-transport-ws. A subprotocol translates a client's into these.
const (
	messageInit      = "connection_init"
	messageAck       = "connection_ack"
	messagePing      = "ping"
	messagePong      = "pong"
	messageSubscribe = "subscribe"
	messageNext      = "next"
	messageError     = "error"
	messageComplete  = "complete"
	messageTerminate = "connection_terminate" // only the older graphql-ws has it
)

// The protocol's close codes, beside those of RFC 6455.
const (
	closeBadRequest       = 4400
	closeUnauthorized     = 4401
	closeForbidden        = 4403
	closeNotAcceptable    = 4406
	closeInitTimeout      = 4408
	closeSubscriberExists = 4409
	closeTooManyInits     = 4429
)

// maxOperationID bounds, in bytes, the id that a client gives to an operation.
const maxOperationID = 1024

// message is a message from a client.
type message struct {
	word    string // the type, as the client's subprotocol calls it
	kind    string // the same as one of the constants above
	id      string
	payload json.RawMessage  // nil when absent or null
	request *request.Request // of a subscribe message
	refusal error            // why a subscribe message that is otherwise well formed cannot run
}

// parseMessage reads one message of a client. kinds translates its type. The error's text is a
// close reason for 4400, and quotes at most the message's type. The message is never nil: if there
// is an error, it contains what was read before.
func parseMessage(data []byte, kinds map[string]string) (*message, error) {
	var members map[string]json.RawMessage
	var m message
	if err := json.Unmarshal(data, &members); err != nil || members == nil {
		return &m, errors.New("message is not a JSON object")
	}
	if err := json.Unmarshal(members["type"], &m.word); err != nil || m.word == "" {
		return &m, errors.New("message has no type")
	}
	m.kind = kinds[m.word]
	if payload := members["payload"]; !bytes.Equal(payload, []byte("null")) {
		m.payload = payload
	}
	switch m.kind {
	case messageInit, messagePing, messagePong:
		return &m, m.checkPayload()
	case messageSubscribe:
		if err := m.parseID(members["id"]); err != nil {
			return &m, err
		}
		return &m, m.parseSubscribe()
	case messageComplete:
		return &m, m.parseID(members["id"])
	case messageTerminate:
		return &m, nil
	case messageAck, messageNext, messageError:
		return &m, fmt.Errorf("only servers send %s", m.word)
	}
	return &m, errors.New("unknown message type")
}

// checkPayload checks that an optional payload is an object.
func (m *message) checkPayload() error {
	if m.payload != nil && m.payload[0] != '{' {
		return fmt.Errorf("%s payload is not an object", m.word)
	}
	return nil
}

func (m *message) parseID(raw json.RawMessage) error {
	var id string
	if err := json.Unmarshal(raw, &id); err != nil || id == "" {
		return fmt.Errorf("%s has no id", m.word)
	}
	if !request.ValidText(raw) {
		return errors.New("id is not valid Unicode")
	}
	if len(id) > maxOperationID {
		return fmt.Errorf("id exceeds %d bytes", maxOperationID)
	}
	m.id = id
	return nil
}

func (m *message) parseSubscribe() error {
	if m.payload == nil || m.payload[0] != '{' {
		return fmt.Errorf("%s payload is not an object", m.word)
	}
	req, err := request.Parse(m.payload)
	if request.IsRefusal(err) {
		m.refusal = err
		return nil
	}
	m.request = req
	return err
}

// maxEcho bounds, in bytes, the payload of a ping that its pong repeats: a pong's payload is
// optional.
const maxEcho = 1024

// echo returns the payload of the pong that answers a ping.
func (m *message) echo() json.RawMessage {
	if len(m.payload) > maxEcho {
		return nil
	}
	return m.payload
}

// authorization returns the Authorization of a connection_init payload, or "" if there is none.
// Header names are case-insensitive, and clients rely on that here too.
func (m *message) authorization() (string, error) {
	if m.payload == nil {
		return "", nil
	}
	var headers struct {
		Authorization *string `json:"Authorization"` // encoding/json matches any case
	}
	if err := json.Unmarshal(m.payload, &headers); err != nil {
		return "", errors.New("the Authorization is not a string")
	}
	if headers.Authorization == nil {
		return "", nil
	}
	return *headers.Authorization, nil
}

// encodeMessage encodes a message. id and payload are JSON or nil.
func encodeMessage(kind string, id, payload json.RawMessage) []byte {
	data := make([]byte, 0, len(`{"id":,"type":"","payload":}`)+len(kind)+len(id)+len(payload))
	data = append(data, '{')
	if id != nil {
		data = append(append(append(data, `"id":`...), id...), ',')
	}
	data = append(append(append(data, `"type":"`...), kind...), '"')
	if payload != nil {
		data = append(append(data, `,"payload":`...), payload...)
	}
	return append(data, '}')
}
