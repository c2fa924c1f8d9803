package request

import (
	"net/http"
	"strings"
	"testing"
)

// TestIdempotencyKeysOfHeaders reads keys from headers and extensions. The want "" is a refusal,
// and "-" no key.
func TestIdempotencyKeysOfHeaders(t *testing.T) {
	t.Parallel()
	longest := strings.Repeat("k", 255)
	for _, c := range []struct {
		what      string
		header    []string
		extension any
		want      any
	}{
		{"none", nil, nil, "-"},
		{"bare", []string{"5b1e2c1a-6d3f"}, nil, "5b1e2c1a-6d3f"},
		{"quoted", []string{`"a\"b\\c"`}, nil, `a"b\c`},
		{"one quote", []string{`"`}, nil, `"`},
		{"the longest", []string{longest}, nil, longest},
		{"the extension alone", nil, "x", "x"},
		{"both alike", []string{" x "}, "x", "x"},
		{"two headers", []string{"x", "x"}, nil, ""},
		{"both, but different", []string{"x"}, "y", ""},
		{"too long", []string{longest + "k"}, nil, ""},
		{"empty", []string{""}, nil, ""},
		{"empty quotes", []string{`""`}, nil, ""},
		{"a space", []string{"a b"}, nil, ""},
		{"a line break", nil, "a\nb", ""},
		{"NUL", nil, "a\x00b", ""},
		{"not ASCII", nil, "é", ""},
		{"a number", nil, 7, ""},
		{"an object", []string{"x"}, map[string]any{}, ""},
	} {
		req := &Request{}
		if c.extension != nil {
			req.Extensions = map[string]any{idempotencyKey: c.extension}
		}
		err := req.TakeIdempotencyKey(http.Header{idempotencyHeader: c.header})
		if err == nil {
			if refusal := req.CheckIdempotencyKey(); refusal != nil {
				err = refusal
			}
		}
		got, ok := req.Extensions[idempotencyKey]
		if !ok {
			got = "-"
		}
		if (err != nil) != (c.want == "") || err == nil && got != c.want {
			t.Errorf("%s: %v, %v, want %v", c.what, got, err, c.want)
		}
	}
}
