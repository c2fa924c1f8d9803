package transport

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/lexer"
	"github.com/vektah/gqlparser/v2/parser"
	"github.com/vektah/gqlparser/v2/validator"
)

// maxCachedQuery is the longest query, in bytes, whose document is kept: it bounds the cache's
// memory.
const maxCachedQuery = 16 << 10

// operation is a request that may run: parsed, within the limits, valid, costed.
type operation struct {
	context *graphql.OperationContext
	cost    *Cost
	quotas  []Quota // once it was charged
}

func (o *operation) kind() ast.Operation { return o.context.Operation.Operation }

// again returns a context for another execution of the operation.
func (o *operation) again() *graphql.OperationContext {
	c := o.context
	return &graphql.OperationContext{
		RawQuery: c.RawQuery, Variables: c.Variables, OperationName: c.OperationName, Doc: c.Doc, Extensions: c.Extensions, Operation: c.Operation,
		RecoverFunc: c.RecoverFunc, ResolverMiddleware: c.ResolverMiddleware, RootResolverMiddleware: c.RootResolverMiddleware,
	}
}

// prepare parses a request, checks limits, validity, variables and cost, and charges the client.
// When it fails, the operation is nil unless the cost or a rate limit was the reason.
func (s *Server) prepare(ctx context.Context, req *request) (*operation, gqlerror.List) {
	op, errs := s.check(ctx, req)
	if len(errs) == 0 {
		op.quotas = s.options.Charge(ctx, s.chargeOf(op))
		if limited := exhausted(op.quotas); limited != nil {
			errs = gqlerror.List{limited}
		}
	}
	if len(errs) > 0 {
		s.options.Refused(ctx, errorCode(errs[0]))
	}
	return op, errs
}

func (s *Server) check(ctx context.Context, req *request) (*operation, gqlerror.List) {
	query, err := s.persisted.textOf(ctx, req)
	if err != nil {
		return nil, gqlerror.List{err}
	}
	opCtx := &graphql.OperationContext{
		RawQuery:               query,
		OperationName:          req.OperationName,
		Extensions:             req.Extensions,
		RecoverFunc:            s.options.Recover,
		ResolverMiddleware:     callField,
		RootResolverMiddleware: callRoot,
	}
	opCtx.Stats.OperationStart = graphql.GetStartTime(ctx)
	var errs gqlerror.List
	if opCtx.Doc, errs = s.document(ctx, query, &opCtx.Stats); errs != nil {
		return nil, errs
	}
	s.persisted.register(ctx, req)
	if opCtx.Operation, err = selectOperation(opCtx.Doc, req.OperationName); err != nil {
		return nil, gqlerror.List{err}
	}
	if opCtx.Variables, err = coerceVariables(s.schema.Schema(), opCtx.Operation, req.Variables); err != nil {
		return nil, gqlerror.List{err}
	}
	if err = checkIdempotencyKey(req); err != nil {
		return nil, gqlerror.List{err}
	}
	if err = checkStreams(opCtx, s.schema.Schema()); err != nil {
		return nil, gqlerror.List{err}
	}
	cost := s.options.Limits.costOf(opCtx.Operation, opCtx.Variables)
	opCtx.Stats.SetExtension(costExtension, cost.Requested)
	op := &operation{context: opCtx, cost: &cost}
	if cost.Requested > cost.Maximum {
		return op, gqlerror.List{tooComplex("cost", cost.Requested, cost.Maximum)}
	}
	return op, nil
}

// needsNoIdentity says whether all that a request asks for is in Options.SignedOut.
func (s *Server) needsNoIdentity(ctx context.Context, req *request) bool {
	op, errs := s.check(ctx, req)
	if len(errs) > 0 || op.kind() != ast.Mutation {
		return false
	}
	return !slices.ContainsFunc(s.rootFields(op), func(name string) bool { return !slices.Contains(s.options.SignedOut, name) })
}

func callRoot(ctx context.Context, next graphql.RootResolver) graphql.Marshaler { return next(ctx) }

func callField(ctx context.Context, next graphql.Resolver) (any, error) { return next(ctx) }

// selectOperation finds the operation to run; without a name there must be just one.
func selectOperation(doc *ast.QueryDocument, name string) (*ast.OperationDefinition, *gqlerror.Error) {
	if name == "" && len(doc.Operations) > 1 {
		return nil, newError(CodeValidationFailed, "the document holds several operations: operationName must say which to run")
	}
	operation := doc.Operations.ForName(name)
	if operation == nil {
		return nil, newError(CodeValidationFailed, "the document contains no operation named %q", truncate(name, maxMessage/2))
	}
	return operation, nil
}

// checkStreams: a subscription has one root field. The validator misses one that is selected twice
// under different aliases, and cannot know of @skip and @include.
func checkStreams(opCtx *graphql.OperationContext, schema *ast.Schema) *gqlerror.Error {
	if opCtx.Operation.Operation != ast.Subscription {
		return nil
	}
	fields := graphql.CollectFields(opCtx, opCtx.Operation.SelectionSet, []string{schema.Subscription.Name})
	if len(fields) != 1 {
		return newError(CodeValidationFailed, "a subscription must select exactly one field, not %d", len(fields))
	}
	return nil
}

// document parses, limits and validates a query text, or remembers that it has done so.
func (s *Server) document(ctx context.Context, query string, stats *graphql.Stats) (*ast.QueryDocument, gqlerror.List) {
	stats.Parsing.Start = graphql.Now()
	if doc, ok := s.documents.Get(ctx, query); ok {
		stats.Parsing.End = graphql.Now()
		stats.Validation.Start, stats.Validation.End = stats.Parsing.End, stats.Parsing.End
		return doc, nil
	}
	doc, err := parseDocument(query, s.options.Limits.MaxTokens)
	stats.Parsing.End = graphql.Now()
	if err != nil {
		return nil, gqlerror.List{err}
	}
	stats.Validation.Start = stats.Parsing.End
	defer func() { stats.Validation.End = graphql.Now() }()
	if err := s.options.Limits.check(doc); err != nil {
		return nil, gqlerror.List{err}
	}
	if errs := validator.ValidateWithRules(s.schema.Schema(), doc, s.rules); len(errs) > 0 {
		return nil, coded(CodeValidationFailed, errs)
	}
	if len(query) <= maxCachedQuery {
		s.documents.Add(ctx, query, doc)
	}
	return doc, nil
}

func parseDocument(query string, maxTokens int) (*ast.QueryDocument, *gqlerror.Error) {
	doc, err := parser.ParseQueryWithTokenLimit(&ast.Source{Input: query}, maxTokens)
	if err != nil {
		code, cause := CodeParseFailed, (*gqlerror.Error)(nil)
		if !errors.As(err, &cause) {
			return nil, newError(code, "%v", err)
		}
		if isParserLimit(cause.Message) {
			code = CodeQueryTooComplex
		}
		return nil, coded(code, gqlerror.List{cause})[0]
	}
	if len(doc.Operations) == 0 {
		return nil, newError(CodeParseFailed, "the document holds no operation")
	}
	if err := checkSurrogates(query); err != nil {
		return nil, err
	}
	return doc, nil
}

// checkSurrogates rejects string literals with escapes of half characters (\ud800 to \udfff), which
// the parser would store as U+FFFD.
func checkSurrogates(query string) *gqlerror.Error {
	if !strings.Contains(strings.ToLower(query), `\ud`) {
		return nil
	}
	tokens := lexer.New(&ast.Source{Input: query})
	token, err := tokens.ReadToken()
	for ; err == nil && token.Kind != lexer.EOF; token, err = tokens.ReadToken() {
		if token.Kind == lexer.String && surrogate.MatchString(query[token.Pos.Start:token.Pos.End]) {
			refusal := newError(CodeParseFailed, "a string holds the escape of half a character")
			refusal.Locations = []gqlerror.Location{{Line: token.Pos.Line, Column: token.Pos.Column}}
			return refusal
		}
	}
	return nil // other errors are the parser's
}

// surrogate matches the escape of a UTF-16 surrogate after an even number of backslashes.
var surrogate = regexp.MustCompile(`(?i)(?:^|[^\\])(?:\\\\)*\\ud[89a-f][0-9a-f]{2}`)

// dispatch starts an operation: each call of the handler gives one response, and nil after the
// last.
func (s *Server) dispatch(ctx context.Context, op *operation) (graphql.ResponseHandler, context.Context) {
	return s.executor.DispatchOperation(ctx, op.context)
}

// recovered presents a panic from outside of the resolvers (gqlgen catches those inside).
func (s *Server) recovered(ctx context.Context, value any) *gqlerror.Error {
	return s.present(ctx, s.options.Recover(ctx, value))
}

// present runs the presenter where an error must be sent: one that it drops becomes INTERNAL.
func (s *Server) present(ctx context.Context, err error) *gqlerror.Error {
	if presented := s.options.ErrorPresenter(ctx, err); presented != nil {
		return presented
	}
	return newError(CodeInternal, "internal server error")
}

// authenticate runs the hook. On failure it gives the error to send, UNAUTHENTICATED unless the
// presenter finds that the server itself failed (INTERNAL) or names another code.
func (s *Server) authenticate(ctx context.Context, authorization string) (context.Context, *gqlerror.Error) {
	if s.options.Authenticate == nil {
		return ctx, nil
	}
	authenticated, err := s.options.Authenticate(ctx, authorization)
	if err == nil {
		return authenticated, nil
	}
	presented := s.present(ctx, err)
	if errorCode(presented) == "" {
		return ctx, newError(CodeUnauthenticated, "the bearer token is unknown, expired or revoked")
	}
	return ctx, presented
}
