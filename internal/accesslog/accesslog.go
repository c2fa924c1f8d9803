// Package accesslog logs each HTTP request and each GraphQL operation, with its cost and its
// outcome. It never logs variables, tokens, texts or addresses: a path is logged as its route, and
// a GraphQL operation as its name.
package accesslog

import (
	"context"
	"log/slog"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"plaza/transport/document"
	"plaza/transport/request"
)

// maxName limits, in bytes, texts that clients choose and the log shows: names of operations and
// methods.
const maxName = 64

// Log is the access log of a server. Its methods may be called from many goroutines.
type Log struct {
	Logger   *slog.Logger
	Requests bool                                            // log each request and operation
	Slow     time.Duration                                   // warn of queries and mutations that take longer; 0 means never
	Viewer   func(context.Context) string                    // the signed-in user's id; "" if signed out
	CodeOf   func(context.Context, *graphql.Response) string // how an operation ended
}

// Around logs the requests that next serves. A request to the GraphQL endpoint is one record
// together with its operation; a websocket is one record when it opens, and one for each operation.
func (l *Log) Around(next http.Handler) http.Handler {
	if !l.Requests {
		return request.Identify(next)
	}
	return request.Identify(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		record := &record{id: request.ID(r.Context())}
		counting := &counter{ResponseWriter: w}
		r = r.WithContext(context.WithValue(r.Context(), recordKey{}, record))
		aborted := true
		defer func() { // also if a handler cuts the connection
			l.Logger.LogAttrs(r.Context(), slog.LevelInfo, "request", identified(r.Context(), append([]slog.Attr{
				slog.String("trace", traceOf(r)), slog.String("method", cut(r.Method)),
				slog.String("route", routeOf(r)), counting.outcome(aborted), slog.Int64("bytes", counting.bytes), since(began),
			}, record.end()...))...)
		}()
		next.ServeHTTP(counting, r)
		aborted = false
	}))
}

// AroundOperations logs each operation; it is a graphql.OperationMiddleware. A subscription is
// logged when it begins.
func (l *Log) AroundOperations(ctx context.Context, next graphql.OperationHandler) graphql.ResponseHandler {
	began, first := time.Now(), true
	respond := next(ctx)
	return func(ctx context.Context) *graphql.Response {
		response := respond(ctx)
		if first { // a query is asked for a second response
			first = false
			l.ran(ctx, began, response)
		}
		return response
	}
}

func (l *Log) ran(ctx context.Context, began time.Time, response *graphql.Response) {
	op := graphql.GetOperationContext(ctx).Operation
	slow := l.Slow > 0 && time.Since(began) > l.Slow && op.Operation != ast.Subscription
	if !slow && !l.Requests {
		return
	}
	attrs := []slog.Attr{
		slog.String("operation", cut(op.Name)), slog.String("type", string(op.Operation)), slog.Int("cost", document.CostOf(ctx)),
		slog.String("viewer", l.Viewer(ctx)), slog.String("code", l.CodeOf(ctx, response)),
	}
	if slow {
		l.Logger.LogAttrs(ctx, slog.LevelWarn, "slow operation", identified(ctx, append(attrs, since(began)))...)
	}
	if l.Requests && !recordOf(ctx).add(attrs...) {
		l.Logger.LogAttrs(ctx, slog.LevelInfo, "operation", identified(ctx, append(attrs, since(began)))...)
	}
}

// Authenticated logs the viewer of a request that is not a GraphQL operation.
func (l *Log) Authenticated(ctx context.Context) {
	if viewer := l.Viewer(ctx); viewer != "" {
		recordOf(ctx).addOnce(slog.String("viewer", viewer))
	}
}

// Refused logs the code of a request or operation that was rejected before it ran.
func (l *Log) Refused(ctx context.Context, code string) {
	refused := slog.String("code", code)
	if l.Requests && !recordOf(ctx).add(refused) {
		l.Logger.LogAttrs(ctx, slog.LevelInfo, "operation", identified(ctx, []slog.Attr{refused})...)
	}
}

// identified returns the id of ctx's request and attrs, without empty texts: commands have no
// request.
func identified(ctx context.Context, attrs []slog.Attr) []slog.Attr {
	all := append([]slog.Attr{slog.String("requestId", request.ID(ctx))}, attrs...)
	return slices.DeleteFunc(all, func(attr slog.Attr) bool { return attr.Value.Equal(slog.StringValue("")) })
}

func since(began time.Time) slog.Attr {
	const microsecond = 1000 // of the milliseconds, so that they have three decimals
	return slog.Float64("ms", float64(time.Since(began).Microseconds())/microsecond)
}

// routeOf returns the path of the pattern that a request matches, without the method that a pattern
// may begin with.
func routeOf(r *http.Request) string {
	if _, path, ok := strings.Cut(r.Pattern, " "); ok {
		return path
	}
	return r.Pattern
}

func cut(name string) string { return name[:min(len(name), maxName)] }

// traceparent is the header of the W3C's Trace Context: the version, the ids of the trace and of
// the caller's span, flags, and parts that later versions may add.
// https://www.w3.org/TR/trace-context/#traceparent-header
var traceparent = regexp.MustCompile(`^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$`)

// traceOf returns the id of the trace that a request belongs to; "" if it names none.
func traceOf(r *http.Request) string {
	found := traceparent.FindStringSubmatch(r.Header.Get("Traceparent"))
	if found == nil {
		return ""
	}
	version, trace, span, more := found[1], found[2], found[3], found[4]
	if version == "ff" || version == "00" && more != "" || strings.Trim(trace, "0") == "" || strings.Trim(span, "0") == "" {
		return ""
	}
	return trace
}
