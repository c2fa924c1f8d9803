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

// next returns the event with a response. On a single connection it names the operation.
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

// complete returns the last event of an operation. It has a line of data because browsers drop
// events without one.
func (s *stream) complete(id string) []byte {
	if !s.single() {
		return []byte("event: complete\ndata:\n\n")
	}
	return []byte("event: complete\ndata: {\"id\":" + string(request.JSONString(id)) + "}\n\n")
}

// failed returns the last events of a failed operation. The protocol has no event for errors, so
// they are a response without data.
func (s *stream) failed(id string, errs gqlerror.List) []byte {
	return append(s.next(id, withoutData(errs)), s.complete(id)...)
}

// withoutData returns a response that has only errors.
func withoutData(errs gqlerror.List) []byte {
	response, err := json.Marshal(map[string]any{"errors": errs})
	if err != nil { // an extension that does not marshal
		return []byte(`{"errors":[{"message":"internal server error","extensions":{"code":"` + codes.Internal + `"}}]}`)
	}
	return response
}

// oneLine replaces line breaks, because one would end the data. In JSON they are only white space
// between tokens.
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
