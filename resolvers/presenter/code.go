package presenter

import (
	"slices"

	"plaza/fault"
	"plaza/graph/model"
)

// The codes in extensions.code that this package adds; transport has those of the protocol.
const (
	codeBadUserInput = "BAD_USER_INPUT"
	codeResume       = "RESUME"
	codeTimeout      = "TIMEOUT"
	codeInternal     = "INTERNAL"
	codeCancelled    = "CANCELLED"
)

// Codes returns the codes that an operation can end with, in userErrors and in errors; transport
// has those of the protocol.
func Codes() []string {
	codes := []string{
		codeBadUserInput, codeResume, codeTimeout, codeInternal, codeCancelled, string(fault.CodeUnauthenticated), string(fault.CodeForbidden),
		string(fault.CodeSuspended),
		string(fault.CodeNotFound), string(fault.CodeTooComplex), string(fault.CodeUnavailable), string(fault.CodeRateLimited),
		string(fault.CodeKeyReused), string(fault.CodeKeyInUse), string(fault.CodeAlreadyDone),
	}
	for _, code := range model.AllUserErrorCode {
		codes = append(codes, string(code))
	}
	return codes
}

// passing are the codes of temporary failures: the same operation may succeed later.
var passing = []string{
	codeInternal, codeTimeout, codeCancelled, string(fault.CodeUnavailable), string(fault.CodeRateLimited), string(fault.CodeKeyInUse),
}

// IsPassing reports whether a failure with that code is temporary: the same operation may succeed
// later.
func IsPassing(code string) bool { return slices.Contains(passing, code) }

// topLevelCode is the code of an error outside of a payload: there, all errors of an argument have
// the same code.
func topLevelCode(code fault.Code) string {
	switch code {
	case fault.CodeUnauthenticated, fault.CodeForbidden, fault.CodeSuspended, fault.CodeNotFound, fault.CodeTooComplex, fault.CodeRateLimited,
		fault.CodeKeyReused, fault.CodeKeyInUse, fault.CodeAlreadyDone:
		return string(code)
	default:
		return codeBadUserInput
	}
}
