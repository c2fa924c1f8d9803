package resolvers

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"plaza/fault"
	"plaza/graph/answer"
	"plaza/graph/model"
	"plaza/live"
	"plaza/social"
)

// The codes in extensions.code that this package adds; transport has those of the protocol.
const (
	codeBadUserInput = "BAD_USER_INPUT"
	codeResume       = "RESUME"
	codeTimeout      = "TIMEOUT"
	codeInternal     = "INTERNAL"
	codeCancelled    = "CANCELLED"
)

// userErrors moves input errors into the payload; every other error remains an error. The list is
// never nil.
func userErrors(ctx context.Context, err error) ([]*model.UserError, error) {
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

// firstMistake stores the code of the first input error for the operation's statistics.
const firstMistake = "plaza.mistake"

// MistakeOf returns the code of the first of an operation's userErrors; "" if there are none.
func MistakeOf(ctx context.Context) string {
	code, _ := graphql.GetOperationContext(ctx).Stats.GetExtension(firstMistake).(string)
	return code
}

// Codes returns the codes that an operation can end with, in userErrors and in errors; transport
// has those of the protocol.
func Codes() []string {
	codes := []string{
		codeBadUserInput, codeResume, codeTimeout, codeInternal, codeCancelled, string(fault.CodeUnauthenticated), string(fault.CodeForbidden),
		string(fault.CodeNotFound), string(fault.CodeTooComplex), string(fault.CodeUnavailable), string(fault.CodeRateLimited),
		string(fault.CodeKeyReused), string(fault.CodeKeyInUse), string(fault.CodeAlreadyDone),
	}
	for _, code := range model.AllUserErrorCode {
		codes = append(codes, string(code))
	}
	return codes
}

// inputPath is the path of the argument at fault; empty if there is none.
func inputPath(mistake *fault.Error) []string {
	if mistake.Field == "" {
		return []string{}
	}
	return append([]string{"input"}, mistake.Path()...)
}

// PresentError is the only place that converts errors to what clients see.
func (r *Resolver) PresentError(ctx context.Context, err error) *gqlerror.Error {
	presented := graphql.DefaultErrorPresenter(ctx, err)
	if presented.Unwrap() == nil { // created for clients by the GraphQL layers themselves
		return presented
	}
	message, extensions := r.explain(ctx, err, presented.Path)
	return &gqlerror.Error{Message: message, Path: presented.Path, Locations: presented.Locations, Extensions: extensions}
}

func (r *Resolver) explain(ctx context.Context, err error, path ast.Path) (string, map[string]any) {
	var mistake *fault.Error
	switch {
	case errors.As(err, &mistake) && mistake.Code != fault.CodeUnavailable:
		extensions := map[string]any{"code": topLevelCode(mistake.Code)}
		if argument := argumentOf(ctx, mistake, path); argument != "" {
			extensions["argument"] = argument
		}
		if mistake.Code == fault.CodeRateLimited {
			extensions["limit"], extensions["retryAfter"] = mistake.Limit, int(math.Ceil(mistake.RetryAfter.Seconds()))
		}
		return mistake.Message, extensions
	case errors.Is(err, live.ErrInterrupted), errors.Is(err, live.ErrClosed):
		return "The subscription was interrupted: subscribe again, after the cursor of the last item.", map[string]any{"code": codeResume}
	case errors.Is(err, answer.ErrTooLarge):
		return fmt.Sprintf("The response would exceed %d MiB: request less in one operation.", answer.MaxLen>>20), map[string]any{"code": string(fault.CodeTooComplex)}
	case errors.Is(err, social.ErrAttemptOver):
		return "Another request with this idempotency key has taken over: send this one again.", map[string]any{"code": string(fault.CodeKeyInUse)}
	case errors.Is(err, live.ErrSessionEnded):
		return "You have signed out.", map[string]any{"code": string(fault.CodeUnauthenticated)}
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		r.log(ctx, err)
		return "The operation took too long.", map[string]any{"code": codeTimeout}
	case errors.Is(err, fault.ErrNoRoom): // the engine has logged it
		return "The database's disk is full. Reads still work; try again later.", map[string]any{"code": string(fault.CodeUnavailable)}
	case errors.Is(err, fault.ErrUnavailable), errors.Is(err, context.DeadlineExceeded):
		r.log(ctx, err)
		return "The database is unavailable; try again.", map[string]any{"code": string(fault.CodeUnavailable)}
	case errors.Is(err, context.Canceled):
		return "The request was cancelled.", map[string]any{"code": codeCancelled}
	default:
		r.log(ctx, err)
		return "Something went wrong on our side.", map[string]any{"code": codeInternal, "requestId": r.RequestID(ctx)}
	}
}

// argumentOf returns the path of the argument at fault. If a scalar could not be parsed, the
// error's path leads through the field to its arguments.
func argumentOf(ctx context.Context, mistake *fault.Error, path ast.Path) string {
	if mistake.Field != "" {
		return mistake.Field
	}
	field := graphql.GetFieldContext(ctx)
	if field == nil || len(path) <= len(field.Path()) {
		return ""
	}
	steps := path[len(field.Path()):]
	return strings.TrimPrefix(indexes.Replace(steps.String()), ".")
}

// Indexes are path steps: where.0.key.
var indexes = strings.NewReplacer("[", ".", "]", "")

func (r *Resolver) log(ctx context.Context, err error) {
	r.Logger.ErrorContext(ctx, "request failed", "error", err, "requestId", r.RequestID(ctx))
}

// topLevelCode is the code of an error outside of a payload: there, all errors of an argument have
// the same code.
func topLevelCode(code fault.Code) string {
	switch code {
	case fault.CodeUnauthenticated, fault.CodeForbidden, fault.CodeNotFound, fault.CodeTooComplex, fault.CodeRateLimited,
		fault.CodeKeyReused, fault.CodeKeyInUse, fault.CodeAlreadyDone:
		return string(code)
	default:
		return codeBadUserInput
	}
}

// Recover converts a panic to an error, and logs its stack.
func (r *Resolver) Recover(ctx context.Context, panicked any) error {
	if err, ok := panicked.(error); ok && errors.Is(err, answer.ErrTooLarge) {
		return err
	}
	r.Logger.ErrorContext(ctx, "panic", "value", panicked, "stack", string(debug.Stack()), "requestId", r.RequestID(ctx))
	return errors.New("panic; see the log above")
}
