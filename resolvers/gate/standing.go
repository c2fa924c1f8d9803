package gate

import (
	"context"
	"slices"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
)

// RequireStanding refuses the mutations of users who are suspended, except those about their own
// account; it is a graphql.OperationMiddleware.
func (g *Gate) RequireStanding(ctx context.Context, next graphql.OperationHandler) graphql.ResponseHandler {
	op, viewer := graphql.GetOperationContext(ctx), UserOf(ctx)
	if viewer.IsZero() || op.Operation.Operation != ast.Mutation || !slices.ContainsFunc(rootFields(op), isForOthers) {
		return next(ctx)
	}
	if err := g.Social.RequireStanding(ctx, viewer); err != nil {
		return g.Errors.Refuse(ctx, err)
	}
	return next(ctx)
}

// isForOthers reports whether a mutation changes more than the viewer's own account: a scope allows
// it to programs (@scope).
func isForOthers(field graphql.CollectedField) bool {
	scope := field.Definition.Directives.ForName("scope")
	return scope != nil && scope.Arguments.ForName("needs") != nil
}
