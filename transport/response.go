package transport

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"sync"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

// answer is one GraphQL response on its way out.
type answer struct {
	errors     gqlerror.List
	data       json.RawMessage // absent when nil: nothing was executed
	extensions map[string]any
	cost       *Cost   // nil when the request failed before it was known
	quotas     []Quota // for the headers; nil over a websocket
	once       bool    // for this request only: not to be cached
}

func newAnswer(resp *graphql.Response, cost *Cost) *answer {
	return &answer{errors: resp.Errors, data: resp.Data, extensions: resp.Extensions, cost: cost}
}

// requestFailed tells that there are errors and nothing was executed.
func (a *answer) requestFailed() bool { return a.data == nil && len(a.errors) > 0 }

// frame gives the JSON before and after the data, which gqlgen has marshalled already: it is
// written between them as it is, without another pass over it.
func (a *answer) frame() (head, tail []byte, err error) {
	var before, after bytes.Buffer
	before.WriteByte('{')
	if len(a.errors) > 0 {
		if err := writeMember(&before, "errors", a.errors); err != nil {
			return nil, nil, err
		}
	}
	if a.data != nil {
		separate(&before)
		before.WriteString(`"data":`)
	}
	if extensions := a.allExtensions(); len(extensions) > 0 {
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

// encode gives the whole answer.
func (a *answer) encode() ([]byte, error) {
	head, tail, err := a.frame()
	return slices.Concat(head, a.data, tail), err
}

func (a *answer) allExtensions() map[string]any {
	if a.cost == nil {
		return a.extensions
	}
	all := make(map[string]any, len(a.extensions)+1)
	maps.Copy(all, a.extensions)
	all["cost"] = a.cost
	return all
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

// buffers are reused for websocket messages; large ones are left to the collector.
var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

func getBuffer() *bytes.Buffer {
	buf, _ := buffers.Get().(*bytes.Buffer) // the pool contains nothing else
	buf.Reset()
	return buf
}

func putBuffer(buf *bytes.Buffer) {
	const keep = 64 << 10
	if buf.Cap() <= keep {
		buffers.Put(buf)
	}
}
