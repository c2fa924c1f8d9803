package request

import (
	"errors"

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

// Present converts an error of [Parse] or [ParseQueryString] to the one to send.
func Present(err error) *gqlerror.Error {
	presented := codes.Errorf(codes.BadUserInput, "%v", err)
	if text, ok := errors.AsType[*TextError](err); ok {
		presented.Extensions["variable"] = text.path
	}
	return presented
}
