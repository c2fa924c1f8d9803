package social

import (
	"errors"
	"fmt"
	"strings"
)

// Code is the stable name of a kind of error; clients see it.
type Code string

// The codes of the domain's errors.
const (
	CodeInvalid         Code = "INVALID"         // a value is malformed or out of range
	CodeTooLong         Code = "TOO_LONG"        // a text or list is above its limit
	CodeBlank           Code = "BLANK"           // a text that is needed is empty
	CodeNotFound        Code = "NOT_FOUND"       // it never was, is gone, or the viewer may not know of it
	CodeTaken           Code = "TAKEN"           // a unique name is in use
	CodeNotAllowed      Code = "NOT_ALLOWED"     // the viewer sees it, but may not do this with it
	CodeLimitReached    Code = "LIMIT_REACHED"   // there are already as many as there may be
	CodeConflict        Code = "CONFLICT"        // somebody else changed it at the same time
	CodeClosed          Code = "CLOSED"          // the poll is over
	CodeTooDeep         Code = "TOO_DEEP"        // a reply below the depth limit
	CodeThreadFull      Code = "THREAD_FULL"     // the thread has as many comments as its storage takes
	CodeUnauthenticated Code = "UNAUTHENTICATED" // nobody is signed in, or the token is void
	CodeBadCredentials  Code = "BAD_CREDENTIALS" // unknown handle or wrong password, never said which
	CodeUnavailable     Code = "UNAVAILABLE"     // the database does not answer just now; try again
)

// Error is a person's mistake or a refusal: what a client may be told. Every other error is internal.
type Error struct {
	Code Code
	// Field is the path of the argument that is at fault, in the API's own words ("content.poll.options").
	// It is empty where no argument is.
	Field   string
	Message string
}

func (e *Error) Error() string {
	if e.Field == "" {
		return fmt.Sprintf("%s: %s", e.Code, e.Message)
	}
	return fmt.Sprintf("%s: %s: %s", e.Code, e.Field, e.Message)
}

// Path is Field in steps.
func (e *Error) Path() []string {
	if e.Field == "" {
		return nil
	}
	return strings.Split(e.Field, ".")
}

// What storage engines answer, for errors.Is. Services make an Error of them, with a field and a message.
var (
	// ErrNotFound: what the call names is absent.
	ErrNotFound = errors.New("not found")
	// ErrTaken: a unique handle, circle name or slug is in use.
	ErrTaken = errors.New("taken")
	// ErrConflict: the stored revision is not the one that the call expects.
	ErrConflict = errors.New("conflict")
	// ErrBlocked: a block stands between the two users.
	ErrBlocked = errors.New("blocked")
	// ErrThreadFull: the thread's layout can hold no more.
	ErrThreadFull = errors.New("thread full")
	// ErrUnavailable: the database did not answer in time, or not at all; nothing is known to be stored.
	ErrUnavailable = errors.New("unavailable")
)

func errorf(code Code, field, format string, args ...any) *Error {
	return &Error{Code: code, Field: field, Message: fmt.Sprintf(format, args...)}
}

// notFound is the one answer for what is absent and for what the viewer may not see.
func notFound(field, what string) *Error {
	return errorf(CodeNotFound, field, "There is no such %s.", what)
}
