package resolvers

import (
	"context"
	"slices"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

// openToAll are the fields of Query and Mutation that a signed-out client needs to become a member.
var openToAll = append([]string{"viewer", "registration"}, SignedOut...)

// RequireMember refuses operations of signed-out clients that read or change anything, if only
// members may read; it is a graphql.OperationMiddleware.
func (r *Resolver) RequireMember(ctx context.Context, next graphql.OperationHandler) graphql.ResponseHandler {
	if !r.MembersOnly || !sessionOf(ctx).User.IsZero() || !slices.ContainsFunc(rootFields(graphql.GetOperationContext(ctx)), isForMembers) {
		return next(ctx)
	}
	return r.refuse(ctx, errUnauthenticated)
}

func isForMembers(field graphql.CollectedField) bool {
	return !strings.HasPrefix(field.Name, "__") && !slices.Contains(openToAll, field.Name)
}

// rootFields are the fields that an operation selects of Query, Mutation or Subscription.
func rootFields(op *graphql.OperationContext) []graphql.CollectedField {
	root := map[ast.Operation]string{ast.Query: "Query", ast.Mutation: "Mutation", ast.Subscription: "Subscription"}[op.Operation.Operation]
	return graphql.CollectFields(op, op.Operation.SelectionSet, []string{root})
}

// refuse answers an operation with an error, before anything of it runs.
func (r *Resolver) refuse(ctx context.Context, err error) graphql.ResponseHandler {
	return graphql.OneShot(&graphql.Response{Errors: gqlerror.List{r.PresentError(ctx, err)}})
}
