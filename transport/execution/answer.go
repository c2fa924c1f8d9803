package execution

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"plaza/transport/document"
)

// Answer is one GraphQL response before it is encoded.
type Answer struct {
	Errors gqlerror.List
	Data   json.RawMessage // absent when nil: nothing was executed
	Cost   *document.Cost  // nil when the request failed before it was known

	extensions map[string]any
}

func newAnswer(resp *graphql.Response, cost *document.Cost) *Answer {
	return &Answer{Errors: resp.Errors, Data: resp.Data, Cost: cost, extensions: resp.Extensions}
}

// RequestFailed reports whether there are errors and nothing was executed.
func (a *Answer) RequestFailed() bool { return a.Data == nil && len(a.Errors) > 0 }

// Frame returns the JSON before and after the data. gqlgen has already marshalled the data, so the
// caller can write them in between as they are.
func (a *Answer) Frame() (head, tail []byte, err error) {
	var before, after bytes.Buffer
	before.WriteByte('{')
	if len(a.Errors) > 0 {
		if err := writeMember(&before, "errors", a.Errors); err != nil {
			return nil, nil, err
		}
	}
	if a.Data != nil {
		separate(&before)
		before.WriteString(`"data":`)
	}
	if extensions := a.allExtensions(); extensions != nil {
		if before.Len() > 1 {
			after.WriteByte(',')
		}
		if err := writeMember(&after, "extensions", extensions); err != nil {
			return nil, nil, err
		}
	}
	after.WriteByte('}')
	return before.Bytes(), after.Bytes(), nil
}

// encode returns the whole answer as JSON.
func (a *Answer) encode() ([]byte, error) {
	head, tail, err := a.Frame()
	return slices.Concat(head, a.Data, tail), err
}

// allExtensions returns the object of the extensions; nil if there are none. Most answers have only
// their cost, and a map would take longer to encode.
func (a *Answer) allExtensions() any {
	switch {
	case a.Cost != nil && len(a.extensions) == 0:
		return struct {
			Cost *document.Cost `json:"cost"`
		}{a.Cost}
	case a.Cost != nil:
		all := make(map[string]any, len(a.extensions)+1)
		maps.Copy(all, a.extensions)
		all["cost"] = a.Cost
		return all
	case len(a.extensions) > 0:
		return a.extensions
	default:
		return nil
	}
}

func writeMember(buf *bytes.Buffer, name string, value any) error {
	encoded, err := json.Marshal(value)
	if err != nil {
		return err
	}
	buf.WriteString(`"` + name + `":`)
	buf.Write(encoded)
	return nil
}

func separate(buf *bytes.Buffer) {
	if buf.Len() > 1 {
		buf.WriteByte(',')
	}
}

// failed returns a response without data.
func failed(err *gqlerror.Error) []byte {
	response, _ := (&Answer{Errors: gqlerror.List{err}}).encode()
	return response
}
