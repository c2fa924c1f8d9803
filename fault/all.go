package fault

import (
	"errors"
	"slices"
	"strings"
)

// Errors holds several errors of one input, each about another field. All creates it.
type Errors []*Error

func (e Errors) Error() string {
	texts := make([]string, len(e))
	for i, mistake := range e {
		texts[i] = mistake.Error()
	}
	return strings.Join(texts, "; ")
}

// Unwrap gives errors.Is and errors.As access to each of them.
func (e Errors) Unwrap() []error {
	all := make([]error, len(e))
	for i, mistake := range e {
		all[i] = mistake
	}
	return all
}

// All joins the errors of one input's checks, so that a person sees all of them: nil if there are
// none, an *Error for one, Errors for several. It keeps the first error of each field. An error
// that the person did not cause is returned alone.
func All(found ...error) error {
	var all Errors
	for _, err := range found {
		if err == nil {
			continue
		}
		mistakes := Mistakes(err)
		if mistakes == nil {
			return err
		}
		for _, mistake := range mistakes {
			if !slices.ContainsFunc(all, func(other *Error) bool { return other.Field == mistake.Field }) {
				all = append(all, mistake)
			}
		}
	}
	switch len(all) {
	case 0:
		return nil
	case 1:
		return all[0]
	default:
		return all
	}
}

// Mistakes lists the *Error values of err; nil for an error of another kind.
func Mistakes(err error) []*Error {
	if several, ok := errors.AsType[Errors](err); ok {
		return several
	}
	if one, ok := errors.AsType[*Error](err); ok {
		return []*Error{one}
	}
	return nil
}
