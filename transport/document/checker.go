package document

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/handler/lru"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/validator"
	"github.com/vektah/gqlparser/v2/validator/rules"

	"plaza/transport/codes"
	"plaza/transport/request"
)

// Options configure which documents may run.
type Options struct {
	// Limits bound what a document may request.
	Limits Limits
	// Trusted are documents that clients can run by their ids: the keys, and "sha256:" with the
	// hash of the text. With OnlyTrusted nothing else runs, and clients cannot register others.
	Trusted     map[string]string
	OnlyTrusted bool
	// Cached is the size of the LRU cache of parsed and validated documents. Default 500. Texts
	// over 16 KiB are not cached.
	Cached int
}

// Checker turns requests into operations that may run on one schema. It may be used concurrently.
type Checker struct {
	schema *ast.Schema
	limits Limits
	rules  *rules.Rules
	texts  documents
	parsed graphql.Cache[*ast.QueryDocument] // valid documents, by their texts
	admit  func(ctx context.Context, bytes int) *gqlerror.Error
}

// NewChecker creates a checker for a schema. admit may refuse a document that is not cached, before
// it is parsed and validated, whether it is valid or not.
func NewChecker(schema *ast.Schema, o Options, admit func(ctx context.Context, bytes int) *gqlerror.Error) *Checker {
	return &Checker{
		admit:  admit,
		schema: schema,
		limits: o.Limits.withDefaults(),
		rules:  newRules(),
		texts:  newDocuments(o.Trusted, o.OnlyTrusted),
		parsed: lru.New[*ast.QueryDocument](cmp.Or(o.Cached, 500)),
	}
}

// Check returns the operation of a request, or the errors to send instead. If the reason is its
// cost, Check returns the operation too.
func (c *Checker) Check(ctx context.Context, req *request.Request) (*Operation, gqlerror.List) {
	query, err := c.texts.textOf(ctx, req)
	if err != nil {
		return nil, gqlerror.List{err}
	}
	opCtx := &graphql.OperationContext{RawQuery: query, OperationName: req.OperationName, Extensions: req.Extensions}
	opCtx.Stats.OperationStart = graphql.GetStartTime(ctx)
	var errs gqlerror.List
	if opCtx.Doc, errs = c.document(ctx, query, &opCtx.Stats); errs != nil {
		return nil, errs
	}
	c.texts.register(ctx, req)
	if opCtx.Operation, err = selectOperation(opCtx.Doc, req.OperationName); err != nil {
		return nil, gqlerror.List{err}
	}
	if opCtx.Variables, err = coerceVariables(c.schema, opCtx.Operation, req.Variables); err != nil {
		return nil, gqlerror.List{err}
	}
	if err = req.CheckIdempotencyKey(); err != nil {
		return nil, gqlerror.List{err}
	}
	op := &Operation{Context: opCtx, root: rootOf(c.schema, opCtx.Operation.Operation)}
	if err = checkSubscription(op); err != nil {
		return nil, gqlerror.List{err}
	}
	cost := c.limits.costOf(opCtx.Operation, opCtx.Variables)
	opCtx.Stats.SetExtension(costExtension, cost.Requested)
	op.Cost = &cost
	if cost.Requested > cost.Maximum {
		return op, gqlerror.List{tooComplex("cost", cost.Requested, cost.Maximum)}
	}
	return op, nil
}

// document parses, limits and validates a text, or finds the result in the cache.
func (c *Checker) document(ctx context.Context, text string, stats *graphql.Stats) (*ast.QueryDocument, gqlerror.List) {
	stats.Parsing.Start = graphql.Now()
	if doc, ok := c.parsed.Get(ctx, text); ok {
		stats.Parsing.End = graphql.Now()
		stats.Validation.Start, stats.Validation.End = stats.Parsing.End, stats.Parsing.End
		return doc, nil
	}
	if limited := c.admit(ctx, len(text)); limited != nil {
		return nil, gqlerror.List{limited}
	}
	doc, err := parse(text, c.limits.MaxTokens)
	stats.Parsing.End = graphql.Now()
	if err != nil {
		return nil, gqlerror.List{err}
	}
	stats.Validation.Start = stats.Parsing.End
	defer func() { stats.Validation.End = graphql.Now() }()
	if err := c.limits.check(doc); err != nil {
		return nil, gqlerror.List{err}
	}
	if errs := validator.ValidateWithRules(c.schema, doc, c.rules); len(errs) > 0 {
		return nil, codes.Complete(codes.ValidationFailed, errs)
	}
	if len(text) <= maxKept {
		c.parsed.Add(ctx, text, doc)
	}
	return doc, nil
}

// selectOperation finds the operation to run. Without a name there must be exactly one.
func selectOperation(doc *ast.QueryDocument, name string) (*ast.OperationDefinition, *gqlerror.Error) {
	if name == "" && len(doc.Operations) > 1 {
		return nil, codes.Errorf(codes.ValidationFailed, "the document contains several operations: operationName must name the one to run")
	}
	operation := doc.Operations.ForName(name)
	if operation == nil {
		return nil, codes.Errorf(codes.ValidationFailed, "the document contains no operation named %q", codes.Truncate(name, codes.MaxMessage/2))
	}
	return operation, nil
}

// checkSubscription: a subscription has one root field. The validator misses one that is selected
// twice under different aliases, and cannot know of @skip and @include.
func checkSubscription(op *Operation) *gqlerror.Error {
	if op.Kind() != ast.Subscription {
		return nil
	}
	if n := len(op.RootFields()); n != 1 {
		return codes.Errorf(codes.ValidationFailed, "a subscription must select exactly one field, not %d", n)
	}
	return nil
}

// CheckTrusted returns the first error that prevents a document of [Options.Trusted] from running
// on a schema.
func CheckTrusted(schema *ast.Schema, limits Limits, id, text string) error {
	switch {
	case id == "" || len(id) > request.MaxDocumentID:
		return fmt.Errorf("an id has 1 to %d bytes", request.MaxDocumentID)
	case strings.HasPrefix(id, "sha256:") && id != hashID(text):
		return fmt.Errorf("its id is not its hash, which is %s", hashID(text))
	}
	doc, err := parse(text, limits.withDefaults().MaxTokens)
	if err == nil {
		err = limits.withDefaults().check(doc)
	}
	if err != nil {
		return err
	}
	if errs := validator.ValidateWithRules(schema, doc, newRules()); len(errs) > 0 {
		return errs[0]
	}
	return nil
}
