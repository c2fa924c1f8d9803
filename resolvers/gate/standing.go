package gate

import (
	"context"
	"slices"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"plaza/social"
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
	return next(context.WithValue(ctx, laterMutationsKey{}, &laterMutations{gate: g}))
}

type laterMutationsKey struct{}

// laterMutations checks the session and the standing of a user again before each mutation of an
// operation but the first, which RequireStanding has just done: an operation with many mutations
// may take long, and moderators do not wait for its end.
type laterMutations struct {
	gate  *Gate
	begun bool // mutations run one after another
}

// checkMutation returns an error if ctx is that of a mutation whose user may not change anything
// any more.
func checkMutation(ctx context.Context, session social.Session) error {
	later, is := ctx.Value(laterMutationsKey{}).(*laterMutations)
	field := graphql.GetFieldContext(ctx)
	if !is || field == nil || field.Object != "Mutation" {
		return nil
	}
	if !later.begun {
		later.begun = true
		return nil
	}
	return later.gate.Social.RequireSession(ctx, session)
}

// isForOthers reports whether a mutation changes more than the viewer's own account: a scope allows
// it to programs (@scope), or it invites someone.
func isForOthers(field graphql.CollectedField) bool {
	needs, _ := scopeOf(field.Definition)
	return needs != "" || field.Name == "createInvitation"
}
