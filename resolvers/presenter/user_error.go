package presenter

import (
	"context"

	"github.com/99designs/gqlgen/graphql"

	"plaza/fault"
	"plaza/graph/model"
)

// UserErrors moves input errors into the payload; every other error remains an error. The list is
// never nil.
func UserErrors(ctx context.Context, err error) ([]*model.UserError, error) {
	mistakes := []*model.UserError{}
	found := fault.Mistakes(err)
	if found == nil {
		return mistakes, err
	}
	for _, mistake := range found {
		code := model.UserErrorCode(mistake.Code)
		if !code.IsValid() { // not about the input
			return []*model.UserError{}, mistake
		}
		mistakes = append(mistakes, &model.UserError{Code: code, Message: mistake.Message, Path: inputPath(mistake)})
	}
	if len(mistakes) > 0 {
		graphql.GetOperationContext(ctx).Stats.SetExtension(firstMistake, string(mistakes[0].Code))
	}
	return mistakes, nil
}

// Unless returns a value of a payload, or nil if there were errors.
func Unless[T any](mistakes []*model.UserError, value T) *T {
	if len(mistakes) > 0 {
		return nil
	}
	return &value
}

// firstMistake stores the code of the first input error for the operation's statistics.
const firstMistake = "plaza.mistake"

// MistakeOf returns the code of the first of an operation's userErrors; "" if there are none.
func MistakeOf(ctx context.Context) string {
	code, _ := graphql.GetOperationContext(ctx).Stats.GetExtension(firstMistake).(string)
	return code
}

// inputPath returns the path of the invalid argument; empty if there is none.
func inputPath(mistake *fault.Error) []string {
	if mistake.Field == "" {
		return []string{}
	}
	return append([]string{"input"}, mistake.Path()...)
}
