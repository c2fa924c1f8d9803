package presenter_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"plaza/fault"
	"plaza/live"
	"plaza/resolvers/presenter"
)

func TestPresentedCodes(t *testing.T) {
	var logged strings.Builder
	p := &presenter.Presenter{
		Logger:    slog.New(slog.NewTextHandler(&logged, nil)),
		RequestID: func(context.Context) string { return "request-1" },
	}
	expired, cancel := context.WithTimeout(t.Context(), -time.Second)
	defer cancel()
	for _, c := range []struct {
		ctx    context.Context //nolint:containedctx // a case
		err    error
		code   string
		logged bool
	}{
		{t.Context(), &fault.Error{Code: fault.CodeTooLong, Field: "text"}, "BAD_USER_INPUT", false},
		{t.Context(), &fault.Error{Code: fault.CodeNotFound}, "NOT_FOUND", false},
		{t.Context(), &fault.Error{Code: fault.CodeUnauthenticated}, "UNAUTHENTICATED", false},
		{t.Context(), &fault.Error{Code: fault.CodeForbidden}, "FORBIDDEN", false},
		{t.Context(), live.ErrInterrupted, "RESUME", false},
		{t.Context(), live.ErrSessionEnded, "UNAUTHENTICATED", false},
		{t.Context(), fmt.Errorf("find: %w", fault.ErrUnavailable), "UNAVAILABLE", true},
		{t.Context(), context.DeadlineExceeded, "UNAVAILABLE", true}, // the store's own deadline
		{expired, fmt.Errorf("find: %w", context.DeadlineExceeded), "TIMEOUT", true},
		{t.Context(), errors.New("secret detail"), "INTERNAL", true},
	} {
		logged.Reset()
		presented := p.Present(graphql.WithResponseContext(c.ctx, graphql.DefaultErrorPresenter, nil), c.err)
		if presented.Extensions["code"] != c.code {
			t.Errorf("%v: code %v, want %s", c.err, presented.Extensions["code"], c.code)
		}
		if strings.Contains(presented.Error(), "secret") || strings.Contains(presented.Error(), "find") {
			t.Errorf("%v: the client sees %q", c.err, presented)
		}
		if got := strings.Count(logged.String(), "request-1"); (got == 1) != c.logged {
			t.Errorf("%v: logged %d times, want it logged: %v", c.err, got, c.logged)
		}
	}
}
