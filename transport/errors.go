package transport

import (
	"fmt"

	"github.com/vektah/gqlparser/v2/gqlerror"
)

// The codes that this package puts into an error's extensions.code, or acts on where
// [Options.ErrorPresenter] does. They are stable.
const (
	// CodeUnauthenticated: the bearer token is unknown, expired or revoked. HTTP status 401, socket
	// close 4403.
	CodeUnauthenticated = "UNAUTHENTICATED"
	// CodeForbidden: a websocket from an origin that is not allowed. HTTP status 403.
	CodeForbidden = "FORBIDDEN"
	// CodeBadUserInput: malformed JSON, a bad parameter, invalid UTF-8, or a variable of the wrong
	// type; extensions.variable names the variable, as in "variables.input.text".
	CodeBadUserInput = "BAD_USER_INPUT"
	// CodeParseFailed: the document is not GraphQL.
	CodeParseFailed = "GRAPHQL_PARSE_FAILED"
	// CodeValidationFailed: the document does not fit the schema, or the named operation is not in
	// it. Of a @oneOf input without exactly one field, extensions.argument names the place, as in
	// "input.content".
	CodeValidationFailed = "GRAPHQL_VALIDATION_FAILED"
	// CodeIntrospectionDisabled: the document asks for __schema or __type, and
	// [Limits.NoIntrospection] forbids that.
	CodeIntrospectionDisabled = "INTROSPECTION_DISABLED"
	// CodePersistedQueryNotFound: no document has the id; send its text, with the id or without.
	CodePersistedQueryNotFound = "PERSISTED_QUERY_NOT_FOUND"
	// CodeQueryNotInSafelist: [Options.OnlyTrusted], and the document is not trusted.
	CodeQueryNotInSafelist = "QUERY_NOT_IN_SAFELIST"
	// CodeQueryTooComplex: one of [Limits] is exceeded; extensions.limit names it.
	CodeQueryTooComplex = "QUERY_TOO_COMPLEX"
	// CodePayloadTooLarge: the request body exceeds [Options.MaxBodyBytes]. HTTP status 413.
	CodePayloadTooLarge = "PAYLOAD_TOO_LARGE"
	// CodeMethodNotAllowed: HTTP status 405.
	CodeMethodNotAllowed = "METHOD_NOT_ALLOWED"
	// CodeNotAcceptable: the Accept header names nothing that a GraphQL server can answer with.
	// HTTP status 406.
	CodeNotAcceptable = "NOT_ACCEPTABLE"
	// CodeUnsupportedMediaType: the request body is not application/json. HTTP status 415.
	CodeUnsupportedMediaType = "UNSUPPORTED_MEDIA_TYPE"
	// CodeRateLimited: [Options.Arrive] or [Options.Charge] refused the request; extensions.limit
	// names the limit, and extensions.retryAfter says in how many seconds it can succeed. HTTP
	// status 429. Or one of [SocketLimits].
	CodeRateLimited = "RATE_LIMITED"
	// CodeTimeout: the operation ran longer than [Options.OperationTimeout].
	CodeTimeout = "TIMEOUT"
	// CodeUnavailable: the server is shutting down. HTTP status 503.
	CodeUnavailable = "UNAVAILABLE"
	// CodeInternal: anything that is the server's own fault. Its cause is logged, never sent.
	CodeInternal = "INTERNAL"
)

// maxMessage limits, in bytes, the error messages that quote what the client sent.
const maxMessage = 300

// newError creates an error that is safe to send: its text is cut to maxMessage bytes.
func newError(code, format string, args ...any) *gqlerror.Error {
	return &gqlerror.Error{
		Message:    truncate(fmt.Sprintf(format, args...), maxMessage),
		Extensions: map[string]any{"code": code},
	}
}

// Codes returns the codes with which requests are rejected before they run.
func Codes() []string {
	return []string{
		CodeUnauthenticated, CodeForbidden, CodeBadUserInput, CodeParseFailed, CodeValidationFailed, CodeIntrospectionDisabled, CodePersistedQueryNotFound, CodeQueryNotInSafelist, CodeQueryTooComplex, CodePayloadTooLarge,
		CodeMethodNotAllowed, CodeNotAcceptable, CodeUnsupportedMediaType, CodeRateLimited, CodeTimeout, CodeUnavailable, CodeInternal,
	}
}

func errShuttingDown() *gqlerror.Error {
	return newError(CodeUnavailable, "the server is shutting down; try again")
}

// errorCode gives an error's extensions.code, or "".
func errorCode(err *gqlerror.Error) string {
	code, _ := err.Extensions["code"].(string)
	return code
}

// coded completes the errors of the parser and the validator: one code, limited text, a limited
// number.
func coded(code string, errs gqlerror.List) gqlerror.List {
	const maxErrors = 50
	if len(errs) > maxErrors {
		errs = errs[:maxErrors]
	}
	for _, err := range errs {
		err.Message = truncate(err.Message, maxMessage)
		err.Path = nil // a response path has no meaning before execution
		if err.Extensions == nil {
			err.Extensions = map[string]any{}
		}
		err.Extensions["code"] = code
	}
	return errs
}

// truncate cuts s to at most limit bytes, between runes.
func truncate(s string, limit int) string {
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
