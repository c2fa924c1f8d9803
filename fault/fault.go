// Package fault defines the errors that all domains share: input errors for clients, sentinels for
// storage engines, and checks of texts. It knows nothing about the domains.
package fault

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"
)

// Code is the stable code of a kind of error; clients see it.
type Code string

// The codes of the domains' errors.
const (
	CodeInvalid         Code = "INVALID"           // a value is malformed or out of range
	CodeTooLong         Code = "TOO_LONG"          // a text or list exceeds its limit
	CodeBlank           Code = "BLANK"             // a required text is empty
	CodeNotFound        Code = "NOT_FOUND"         // it does not exist, or the viewer may not see it
	CodeTaken           Code = "TAKEN"             // a unique name is in use
	CodeReserved        Code = "RESERVED"          // a name that only an operator may give
	CodeNotAllowed      Code = "NOT_ALLOWED"       // the viewer sees it, but may not do this with it
	CodeForbidden       Code = "FORBIDDEN"         // the viewer lacks the required right
	CodeRejected        Code = "REJECTED"          // this site's own rules refuse to publish it
	CodeLimitReached    Code = "LIMIT_REACHED"     // the maximum number is reached
	CodeConflict        Code = "CONFLICT"          // a concurrent change got in the way
	CodeClosed          Code = "CLOSED"            // the poll is closed
	CodeTooDeep         Code = "TOO_DEEP"          // a reply below the depth limit
	CodeThreadFull      Code = "THREAD_FULL"       // the thread has as many comments as its storage allows
	CodeUnauthenticated Code = "UNAUTHENTICATED"   // signed out, or the token is not valid
	CodeSuspended       Code = "SUSPENDED"         // the viewer's account is suspended, and may only read
	CodeBanned          Code = "BANNED"            // the account may not be used
	CodeBadCredentials  Code = "BAD_CREDENTIALS"   // unknown handle or wrong password, without saying which
	CodeRateLimited     Code = "RATE_LIMITED"      // too many attempts; try again later
	CodeUnavailable     Code = "UNAVAILABLE"       // the database is unavailable; try again
	CodeTooComplex      Code = "QUERY_TOO_COMPLEX" // it would cost too much

	CodeKeyReused   Code = "IDEMPOTENCY_KEY_REUSED" // the key was used for another operation
	CodeKeyInUse    Code = "IDEMPOTENCY_KEY_IN_USE" // the operation with this key is running; try again later
	CodeAlreadyDone Code = "ALREADY_DONE"           // the operation with this key was carried out, and its answer is lost
)

// Error is an input error or a refusal, with a message for clients. Every other error is internal.
type Error struct {
	Code Code
	// Field is the path of the argument at fault, in the API's own terms ("content.poll.options").
	// It is empty if no argument is at fault.
	Field   string
	Message string
	Cause   error // for errors.Is; never shown
	// Limit is the rate limit that refused the call, and RetryAfter the time after which it may
	// succeed, with CodeRateLimited.
	Limit      string
	RetryAfter time.Duration
}

func (e *Error) Error() string {
	if e.Field == "" {
		return fmt.Sprintf("%s: %s", e.Code, e.Message)
	}
	return fmt.Sprintf("%s: %s: %s", e.Code, e.Field, e.Message)
}

func (e *Error) Unwrap() error { return e.Cause }

// Path returns Field, split into steps.
func (e *Error) Path() []string {
	if e.Field == "" {
		return nil
	}
	return strings.Split(e.Field, ".")
}

// Errorf creates an Error.
func Errorf(code Code, field, format string, args ...any) *Error {
	return &Error{Code: code, Field: field, Message: fmt.Sprintf(format, args...)}
}

// Invalidf creates an Error with CodeInvalid.
func Invalidf(field, format string, args ...any) *Error {
	return Errorf(CodeInvalid, field, format, args...)
}

// RateLimited returns the error of a rate limit that admits the call after the given time.
func RateLimited(limit string, retryAfter time.Duration) *Error {
	e := &Error{Code: CodeRateLimited, Limit: limit, RetryAfter: retryAfter}
	e.Message = fmt.Sprintf("Too many attempts: try again in %d s.", e.RetrySeconds())
	return e
}

// RetrySeconds returns RetryAfter in whole seconds, rounded up.
func (e *Error) RetrySeconds() int { return int(math.Ceil(e.RetryAfter.Seconds())) }

// NotFound returns the same error for objects that do not exist and for objects that the viewer may
// not see.
func NotFound(field, what string) *Error {
	return Errorf(CodeNotFound, field, "There is no such %s.", what)
}

// Storage engines of all domains return these errors, for errors.Is. Services turn them into an
// Error with a field and a message.
var (
	// ErrNotFound: the object that the call names does not exist.
	ErrNotFound = Refusal("not found")
	// ErrUnavailable: the database did not answer in time, or not at all; a write may or may not
	// have been stored. It is a failure, not a refusal.
	ErrUnavailable = errors.New("unavailable")
	// ErrNoRoom is an ErrUnavailable, too: the database's disk is full. Reads still work.
	ErrNoRoom = fmt.Errorf("%w for writes: the disk is full", ErrUnavailable)
)

// Refusal creates a sentinel of a storage contract: the database works, but rejects the call. An
// engine rolls the call back and returns the sentinel unchanged.
func Refusal(text string) error { return &refusalError{text} }

// IsRefusal reports whether err wraps a Refusal.
func IsRefusal(err error) bool {
	_, ok := errors.AsType[*refusalError](err)
	return ok
}

type refusalError struct{ text string }

func (e *refusalError) Error() string { return e.text }
