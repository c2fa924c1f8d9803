package codes

import (
	"fmt"

	"github.com/vektah/gqlparser/v2/gqlerror"
)

// The codes are stable.
const (
	// Unauthenticated: the bearer token is unknown, expired or revoked. HTTP status 401, socket
	// close 4403.
	Unauthenticated = "UNAUTHENTICATED"
	// Forbidden: a websocket from an origin that is not allowed. HTTP status 403.
	Forbidden = "FORBIDDEN"
	// BadUserInput: malformed JSON, a bad parameter, invalid UTF-8, or a variable of the wrong
	// type; extensions.variable names the variable, as in "variables.input.text".
	BadUserInput = "BAD_USER_INPUT"
	// ParseFailed: the document is not GraphQL.
	ParseFailed = "GRAPHQL_PARSE_FAILED"
	// ValidationFailed: the document does not fit the schema, or the named operation is not in it.
	// For a @oneOf input without exactly one field, extensions.argument names the place, as in
	// "input.content".
	ValidationFailed = "GRAPHQL_VALIDATION_FAILED"
	// IntrospectionDisabled: the document asks for __schema or __type, and
	// the server's limits forbid that.
	IntrospectionDisabled = "INTROSPECTION_DISABLED"
	// PersistedQueryNotFound: no document has the id; send its text, with the id or without.
	PersistedQueryNotFound = "PERSISTED_QUERY_NOT_FOUND"
	// QueryNotInSafelist: the server runs only its trusted documents, and this is not one of them.
	QueryNotInSafelist = "QUERY_NOT_IN_SAFELIST"
	// QueryTooComplex: one of the limits of documents is exceeded; extensions.limit names it.
	QueryTooComplex = "QUERY_TOO_COMPLEX"
	// PayloadTooLarge: the request body is longer than the server reads. HTTP status 413.
	PayloadTooLarge = "PAYLOAD_TOO_LARGE"
	// MethodNotAllowed: HTTP status 405.
	MethodNotAllowed = "METHOD_NOT_ALLOWED"
	// NotAcceptable: the Accept header contains no media type of GraphQL answers. HTTP status 406.
	NotAcceptable = "NOT_ACCEPTABLE"
	// UnsupportedMediaType: the request body is not application/json. HTTP status 415.
	UnsupportedMediaType = "UNSUPPORTED_MEDIA_TYPE"
	// RateLimited: a rate limit refused the request; extensions.limit names it, and
	// extensions.retryAfter says in how many seconds the request can succeed. HTTP status 429. Or
	// too many connections or operations are open.
	RateLimited = "RATE_LIMITED"
	// Timeout: the operation exceeded its time limit.
	Timeout = "TIMEOUT"
	// Unavailable: the server is shutting down. HTTP status 503.
	Unavailable = "UNAVAILABLE"
	// Internal: a fault of the server. Its cause is logged, but never sent.
	Internal = "INTERNAL"
)

// MaxMessage limits, in bytes, the error messages that quote what the client sent.
const MaxMessage = 300

// Errorf returns an error with a code. It truncates the text to MaxMessage bytes.
func Errorf(code, format string, args ...any) *gqlerror.Error {
	return &gqlerror.Error{
		Message:    Truncate(fmt.Sprintf(format, args...), MaxMessage),
		Extensions: map[string]any{"code": code},
	}
}

// All returns the codes with which requests are rejected before they run.
func All() []string {
	return []string{
		Unauthenticated, Forbidden, BadUserInput, ParseFailed, ValidationFailed, IntrospectionDisabled, PersistedQueryNotFound, QueryNotInSafelist, QueryTooComplex, PayloadTooLarge,
		MethodNotAllowed, NotAcceptable, UnsupportedMediaType, RateLimited, Timeout, Unavailable, Internal,
	}
}

// Of returns an error's extensions.code, or "".
func Of(err *gqlerror.Error) string {
	code, _ := err.Extensions["code"].(string)
	return code
}

// Complete prepares the errors of the parser and the validator for clients: it sets the code, and
// limits their number and the length of their texts.
func Complete(code string, errs gqlerror.List) gqlerror.List {
	const maxErrors = 50
	if len(errs) > maxErrors {
		errs = errs[:maxErrors]
	}
	for _, err := range errs {
		err.Message = Truncate(err.Message, MaxMessage)
		err.Path = nil // a response path has no meaning before execution
		if err.Extensions == nil {
			err.Extensions = map[string]any{}
		}
		err.Extensions["code"] = code
	}
	return errs
}

// Truncate shortens a client's text, which an error quotes, to at most limit bytes. It does not
// split runes.
func Truncate(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	const mark = "…"
	cut := limit - len(mark)
	for cut > 0 && s[cut]&0xC0 == 0x80 { // a continuation byte
		cut--
	}
	return s[:cut] + mark
}
