package presenter

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"plaza/fault"
	"plaza/graph/answer"
	"plaza/live"
	"plaza/social"
)

// Presenter presents the errors of operations.
type Presenter struct {
	Logger *slog.Logger
	// RequestID returns the id of ctx's request, for the log.
	RequestID func(ctx context.Context) string
}

// Present converts an error to what clients see; it is a graphql.ErrorPresenterFunc.
func (p *Presenter) Present(ctx context.Context, err error) *gqlerror.Error {
	presented := graphql.DefaultErrorPresenter(ctx, err)
	field, argument := split(ctx, presented.Path)
	if presented.Unwrap() == nil { // created for clients by the GraphQL layers themselves
		presented.Path = field
		return presented
	}
	message, extensions := p.explain(ctx, err, argument)
	return &gqlerror.Error{Message: message, Path: field, Locations: presented.Locations, Extensions: extensions}
}

// split splits an error's path. If a scalar could not be parsed, it leads through the field to its
// arguments, which are no part of the response.
func split(ctx context.Context, path ast.Path) (field, argument ast.Path) {
	at := graphql.GetFieldContext(ctx)
	if at == nil || len(path) <= len(at.Path()) {
		return path, nil
	}
	return path[:len(at.Path())], path[len(at.Path()):]
}

func (p *Presenter) explain(ctx context.Context, err error, argument ast.Path) (string, map[string]any) {
	var mistake *fault.Error
	switch {
	case errors.As(err, &mistake) && mistake.Code != fault.CodeUnavailable:
		extensions := map[string]any{"code": topLevelCode(mistake.Code)}
		if name := argumentOf(mistake, argument); name != "" {
			extensions["argument"] = name
		}
		if mistake.Code == fault.CodeRateLimited {
			extensions["limit"], extensions["retryAfter"] = mistake.Limit, mistake.RetrySeconds()
		}
		return mistake.Message, extensions
	case errors.Is(err, social.ErrIssuerUnavailable): // package issuer has logged the cause
		return "Tokens of that site can't be verified at the moment; try again.", map[string]any{"code": string(fault.CodeUnavailable)}
	case errors.Is(err, social.ErrNotReviewed): // package webhook has logged the cause
		return "This site can't publish anything at the moment; try again.", map[string]any{"code": string(fault.CodeUnavailable)}
	case errors.Is(err, live.ErrInterrupted), errors.Is(err, live.ErrClosed):
		return "The subscription was interrupted: subscribe again, after the cursor of the last item.", map[string]any{"code": codeResume}
	case errors.Is(err, answer.ErrTooLarge):
		return fmt.Sprintf("The response would exceed %d MiB: request less in one operation.", answer.MaxLen>>20), map[string]any{"code": string(fault.CodeTooComplex)}
	case errors.Is(err, social.ErrAttemptOver):
		return "Another request with this idempotency key has taken over: send this one again.", map[string]any{"code": string(fault.CodeKeyInUse)}
	case errors.Is(err, live.ErrSessionEnded):
		return "Your session has ended: sign in again.", map[string]any{"code": string(fault.CodeUnauthenticated)}
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		p.log(ctx, err)
		return "The operation took too long.", map[string]any{"code": codeTimeout}
	case errors.Is(err, fault.ErrNoRoom): // the engine has logged it
		return "The database's disk is full. Reads still work; try again later.", map[string]any{"code": string(fault.CodeUnavailable)}
	case errors.Is(err, fault.ErrUnavailable), errors.Is(err, context.DeadlineExceeded):
		p.log(ctx, err)
		return "The database is unavailable; try again.", map[string]any{"code": string(fault.CodeUnavailable)}
	case errors.Is(err, context.Canceled):
		return "The request was cancelled.", map[string]any{"code": codeCancelled}
	default:
		p.log(ctx, err)
		return "Something went wrong on our side.", map[string]any{"code": codeInternal, "requestId": p.RequestID(ctx)}
	}
}

// argumentOf returns the name of the invalid argument, with the steps into it. The path is that of a
// scalar that could not be parsed.
func argumentOf(mistake *fault.Error, path ast.Path) string {
	if mistake.Field != "" {
		return mistake.Field
	}
	return strings.TrimPrefix(indexes.Replace(path.String()), ".")
}

// Indexes are path steps: where.0.key.
var indexes = strings.NewReplacer("[", ".", "]", "")

func (p *Presenter) log(ctx context.Context, err error) {
	p.Logger.ErrorContext(ctx, "request failed", "error", err, "requestId", p.RequestID(ctx))
}

// Refuse answers an operation with an error, before any part of it runs.
func (p *Presenter) Refuse(ctx context.Context, err error) graphql.ResponseHandler {
	return graphql.OneShot(&graphql.Response{Errors: gqlerror.List{p.Present(ctx, err)}})
}

// Recover converts a panic to an error, and logs its stack; it is a graphql.RecoverFunc.
func (p *Presenter) Recover(ctx context.Context, panicked any) error {
	if err, ok := panicked.(error); ok && errors.Is(err, answer.ErrTooLarge) {
		return err
	}
	p.Logger.ErrorContext(ctx, "panic", "value", panicked, "stack", string(debug.Stack()), "requestId", p.RequestID(ctx))
	return errors.New("panic; see the log above")
}
