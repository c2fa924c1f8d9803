// Package fault has the words in which the domains refuse: what a person is told, what a storage engine answers, and the
// checks of texts that all of them share. It knows nothing of what is refused.
package fault

import (
	"errors"
	"fmt"
	"strings"
)

// Code is the stable name of a kind of error; clients see it.
type Code string

// The codes of the domains' errors.
const (
	CodeInvalid         Code = "INVALID"           // a value is malformed or out of range
	CodeTooLong         Code = "TOO_LONG"          // a text or list is above its limit
	CodeBlank           Code = "BLANK"             // a text that is needed is empty
	CodeNotFound        Code = "NOT_FOUND"         // it never was, is gone, or the viewer may not know of it
	CodeTaken           Code = "TAKEN"             // a unique name is in use
	CodeNotAllowed      Code = "NOT_ALLOWED"       // the viewer sees it, but may not do this with it
	CodeForbidden       Code = "FORBIDDEN"         // the viewer lacks the right that this needs
	CodeLimitReached    Code = "LIMIT_REACHED"     // there are already as many as there may be
	CodeConflict        Code = "CONFLICT"          // somebody else changed it at the same time
	CodeClosed          Code = "CLOSED"            // the poll is over
	CodeTooDeep         Code = "TOO_DEEP"          // a reply below the depth limit
	CodeThreadFull      Code = "THREAD_FULL"       // the thread has as many comments as its storage takes
	CodeUnauthenticated Code = "UNAUTHENTICATED"   // nobody is signed in, or the token is void
	CodeBadCredentials  Code = "BAD_CREDENTIALS"   // unknown handle or wrong password, never said which
	CodeUnavailable     Code = "UNAVAILABLE"       // the database does not answer just now; try again
	CodeTooComplex      Code = "QUERY_TOO_COMPLEX" // it would cost too much to answer
)

// Error is a person's mistake or a refusal: what a client may be told. Every other error is internal.
type Error struct {
	Code Code
	// Field is the path of the argument that is at fault, in the API's own words ("content.poll.options").
	// It is empty where no argument is.
	Field   string
	Message string
	Cause   error // for errors.Is; never told
}

func (e *Error) Error() string {
	if e.Field == "" {
		return fmt.Sprintf("%s: %s", e.Code, e.Message)
	}
	return fmt.Sprintf("%s: %s: %s", e.Code, e.Field, e.Message)
}

func (e *Error) Unwrap() error { return e.Cause }

// Path is Field in steps.
func (e *Error) Path() []string {
	if e.Field == "" {
		return nil
	}
	return strings.Split(e.Field, ".")
}

// Errorf makes an Error.
func Errorf(code Code, field, format string, args ...any) *Error {
	return &Error{Code: code, Field: field, Message: fmt.Sprintf(format, args...)}
}

// Invalidf makes an Error of the commonest code.
func Invalidf(field, format string, args ...any) *Error {
	return Errorf(CodeInvalid, field, format, args...)
}

// NotFound is the one answer for what is absent and for what the viewer may not see.
func NotFound(field, what string) *Error {
	return Errorf(CodeNotFound, field, "There is no such %s.", what)
}

// What the storage engines of all domains answer, for errors.Is. Services make an Error of them, with a field and a message.
var (
	// ErrNotFound: what the call names is absent.
	ErrNotFound = Refusal("not found")
	// ErrUnavailable: the database did not answer in time, or not at all; nothing is known to be stored. It is a failure,
	// and no refusal.
	ErrUnavailable = errors.New("unavailable")
	// ErrNoRoom is an ErrUnavailable: the database's disk is full. Reads go on.
	ErrNoRoom = fmt.Errorf("%w for writes: no room on the disk", ErrUnavailable)
)

// Refusal makes a sentinel of a storage contract: the database is well, and the call is answered with no. An engine
// undoes what the call has done and returns it as it is.
func Refusal(text string) error { return &refusalError{text} }

// IsRefusal finds a Refusal in err.
func IsRefusal(err error) bool {
	_, ok := errors.AsType[*refusalError](err)
	return ok
}

type refusalError struct{ text string }

func (e *refusalError) Error() string { return e.text }
