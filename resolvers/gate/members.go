package gate

import (
	"context"
	"slices"
	"strings"

	"github.com/99designs/gqlgen/graphql"
)

// openToAll are the fields of Query and Mutation that a signed-out client needs to become a member.
var openToAll = append([]string{"viewer", "registration", "identityProviders"}, SignedOut...)

// RequireMember refuses operations of signed-out clients that read or change anything, if only
// members may read; it is a graphql.OperationMiddleware.
func (g *Gate) RequireMember(ctx context.Context, next graphql.OperationHandler) graphql.ResponseHandler {
	if !g.MembersOnly || !SessionOf(ctx).User.IsZero() || !slices.ContainsFunc(rootFields(graphql.GetOperationContext(ctx)), isForMembers) {
		return next(ctx)
	}
	return g.Errors.Refuse(ctx, ErrUnauthenticated)
}

func isForMembers(field graphql.CollectedField) bool {
	return !strings.HasPrefix(field.Name, "__") && !slices.Contains(openToAll, field.Name)
}
