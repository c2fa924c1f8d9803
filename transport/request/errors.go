package request

import (
	"errors"
	"fmt"

	"github.com/vektah/gqlparser/v2/gqlerror"

	"plaza/transport/codes"
)

// wholeRequest is used instead of a path if there is none.
const wholeRequest = "the request"

// shapeError means that a request is JSON but not a GraphQL request. It never quotes the request.
type shapeError struct{ message string }

func (e *shapeError) Error() string { return e.message }

var errNotJSON = &shapeError{"the request is not valid JSON"}

// TextError names the part of a request that is not valid Unicode, which encoding/json would
// replace silently.
type TextError struct{ path string }

func (e *TextError) Error() string { return e.path + " is not valid Unicode text" }

// MaxValues bounds the JSON values of a request, as the tokens of a document are bounded: each is
// decoded and converted, whether the document needs it or not.
const MaxValues = 2000

// sizeError means that a request has more than MaxValues.
type sizeError struct{}

func (sizeError) Error() string {
	return fmt.Sprintf("the request is too complex: it has more than %d JSON values", MaxValues)
}

// IsRefusal reports whether an error of [Parse] is about a request that is well formed otherwise.
func IsRefusal(err error) bool {
	_, notText := errors.AsType[*TextError](err)
	return notText || errors.Is(err, sizeError{})
}

// Present converts an error of [Parse] or [ParseQueryString] to the one to send.
func Present(err error) *gqlerror.Error {
	if errors.Is(err, sizeError{}) {
		presented := codes.Errorf(codes.QueryTooComplex, "%v", err)
		presented.Extensions["limit"], presented.Extensions["maximum"] = "values", MaxValues
		return presented
	}
	presented := codes.Errorf(codes.BadUserInput, "%v", err)
	if text, ok := errors.AsType[*TextError](err); ok {
		presented.Extensions["variable"] = text.path
	}
	return presented
}
