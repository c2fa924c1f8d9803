package sse

import (
	"bytes"
	"encoding/json"

	"github.com/vektah/gqlparser/v2/gqlerror"

	"plaza/transport/codes"
	"plaza/transport/request"
)

// heartbeat is a comment, which clients ignore.
const heartbeat = ":\n\n"

// next is the event with a response. On a single connection it names the operation.
func (s *stream) next(id string, response []byte) []byte {
	var buf bytes.Buffer
	buf.WriteString("event: next\ndata: ")
	if s.single() {
		buf.WriteString(`{"id":`)
		buf.Write(request.JSONString(id))
		buf.WriteString(`,"payload":`)
	}
	buf.Write(oneLine(response))
	if s.single() {
		buf.WriteByte('}')
	}
	buf.WriteString("\n\n")
	return buf.Bytes()
}

// complete is the last event of an operation. Browsers drop an event without a line of data.
func (s *stream) complete(id string) []byte {
	if !s.single() {
		return []byte("event: complete\ndata:\n\n")
	}
	return []byte("event: complete\ndata: {\"id\":" + string(request.JSONString(id)) + "}\n\n")
}

// failed are the last events of an operation that fails. The protocol has none for errors: they are
// a response without data.
func (s *stream) failed(id string, errs gqlerror.List) []byte {
	return append(s.next(id, withoutData(errs)), s.complete(id)...)
}

// withoutData is a response that has only errors.
func withoutData(errs gqlerror.List) []byte {
	response, err := json.Marshal(map[string]any{"errors": errs})
	if err != nil { // an extension that does not marshal
		return []byte(`{"errors":[{"message":"internal server error","extensions":{"code":"` + codes.Internal + `"}}]}`)
	}
	return response
}

// oneLine replaces line breaks, which are only white space between the tokens of JSON: a line break
// would end the data.
func oneLine(response []byte) []byte {
	if !bytes.ContainsAny(response, "\r\n") {
		return response
	}
	return bytes.Map(func(r rune) rune {
		if r == '\r' || r == '\n' {
			return ' '
		}
		return r
	}, response)
}
