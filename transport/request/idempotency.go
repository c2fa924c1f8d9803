package request

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/vektah/gqlparser/v2/gqlerror"

	"plaza/transport/codes"
)

const (
	// idempotencyKey is the extension of a request with an idempotency key: a mutation is carried
	// out once, however often it is sent with the same key.
	idempotencyKey = "idempotencyKey"
	// idempotencyHeader is the header that clients may send instead of the extension:
	// https://datatracker.ietf.org/doc/draft-ietf-httpapi-idempotency-key-header/
	idempotencyHeader = "Idempotency-Key"

	maxIdempotencyKey = 255
)

// TakeIdempotencyKey copies the key from a header, quoted or not, to the extensions.
func (req *Request) TakeIdempotencyKey(header http.Header) error {
	values := header.Values(idempotencyHeader)
	switch len(values) {
	case 0:
		return nil
	case 1:
	default:
		return &shapeError{"there is more than one header " + idempotencyHeader}
	}
	key := unquote(strings.TrimSpace(values[0]))
	if other, ok := req.Extensions[idempotencyKey]; ok && other != nil && other != key {
		return &shapeError{fmt.Sprintf("the header %s and %q differ", idempotencyHeader, "extensions."+idempotencyKey)}
	}
	if req.Extensions == nil {
		req.Extensions = map[string]any{}
	}
	req.Extensions[idempotencyKey] = key
	return nil
}

// unquote returns the content of a quoted string (RFC 9651, section 3.3.3), and any other text as
// it is.
func unquote(text string) string {
	quoted := len(text) > 1 && strings.HasPrefix(text, `"`) && strings.HasSuffix(text, `"`)
	if !quoted {
		return text
	}
	return strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(text[1 : len(text)-1])
}

// CheckIdempotencyKey returns an error if the request has an invalid key.
func (req *Request) CheckIdempotencyKey() *gqlerror.Error {
	value, ok := req.Extensions[idempotencyKey]
	if !ok || value == nil {
		return nil
	}
	key, ok := value.(string)
	visible := func(r rune) bool { return r > ' ' && r <= '~' }
	if !ok || key == "" || len(key) > maxIdempotencyKey || strings.ContainsFunc(key, func(r rune) bool { return !visible(r) }) {
		return codes.Errorf(codes.BadUserInput, "%s must be 1 to %d visible ASCII characters, such as a UUID", idempotencyHeader, maxIdempotencyKey)
	}
	return nil
}
