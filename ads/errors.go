package ads

import (
	"errors"
	"fmt"
	"strings"
)

// Code is the stable name of a kind of error; clients see it.
type Code string

// The codes of the domain's errors. They have the same names as the social domain's.
const (
	CodeInvalid      Code = "INVALID"       // a value is malformed or out of range
	CodeNotFound     Code = "NOT_FOUND"     // it never was, or is gone
	CodeLimitReached Code = "LIMIT_REACHED" // there are already as many as there may be
	CodeUnavailable  Code = "UNAVAILABLE"   // the database does not answer just now; try again
)

// Error is a person's mistake or a refusal: what a client may be told. Every other error is internal.
type Error struct {
	Code Code
	// Field is the path of the argument that is at fault, in the API's own words ("zone", "units.3.landingUrl").
	// It is empty where no argument is.
	Field   string
	Message string

	cause error
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

// Unwrap is the sentinel below that the error comes from, or nil.
func (e *Error) Unwrap() error { return e.cause }

// What storage engines answer, for errors.Is. The service makes an Error of them.
var (
	// ErrNotFound: what the call names is absent.
	ErrNotFound = errors.New("not found")
	// ErrCurrency: a unit bids in another currency than a zone it is placed in, or a zone exists with another one.
	ErrCurrency = errors.New("another currency")
	// ErrFull: a zone would have more than MaxZoneUnits units.
	ErrFull = errors.New("zone full")
	// ErrUnavailable: the database did not answer in time, or not at all; nothing is known to be stored.
	ErrUnavailable = errors.New("unavailable")
)

// ErrExpired is what the Error for a token wraps that was good, and has become too old.
var ErrExpired = errors.New("expired")

func invalid(field, message string) *Error {
	return &Error{Code: CodeInvalid, Field: field, Message: message}
}

// presented are the Errors that the service makes of a store's sentinels.
var presented = []Error{
	{Code: CodeNotFound, Message: "There is no such advertiser, campaign, ad or zone.", cause: ErrNotFound},
	{Code: CodeInvalid, Message: "A zone and its units have one currency.", cause: ErrCurrency},
	{Code: CodeLimitReached, Message: fmt.Sprintf("A zone holds at most %d units.", MaxZoneUnits), cause: ErrFull},
	{Code: CodeUnavailable, Message: "The database does not answer just now. Try again.", cause: ErrUnavailable},
}

// present makes an Error of a store's sentinel, which wraps err, and leaves every other error as it is.
func present(err error) error {
	for _, e := range presented {
		if errors.Is(err, e.cause) {
			e.cause = err
			return &e
		}
	}
	return err
}
