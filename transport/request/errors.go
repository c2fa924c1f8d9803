package request

import (
	"errors"

	"github.com/vektah/gqlparser/v2/gqlerror"

	"plaza/transport/codes"
)

// wholeRequest is used instead of a path if there is none.
const wholeRequest = "the request"

// shapeError says that a request is JSON but not a GraphQL request. It never quotes the request.
type shapeError struct{ message string }

func (e *shapeError) Error() string { return e.message }

var errNotJSON = &shapeError{"the request is not valid JSON"}

// TextError says which part of a request is not valid Unicode: encoding/json would replace it
// silently.
type TextError struct{ path string }

func (e *TextError) Error() string { return e.path + " is not valid Unicode text" }

// Present makes an error of [Parse] or [ParseQueryString] one to send.
func Present(err error) *gqlerror.Error {
	presented := codes.Errorf(codes.BadUserInput, "%v", err)
	if text, ok := errors.AsType[*TextError](err); ok {
		presented.Extensions["variable"] = text.path
	}
	return presented
}
