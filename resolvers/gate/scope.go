package gate

import (
	"context"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"plaza/fault"
	"plaza/social"
)

// RequireScopes refuses operations of access tokens that select a field beyond their scopes
// (@scope); it is a graphql.OperationMiddleware. It checks the whole document before anything runs,
// including what @skip or @include leave out.
func (g *Gate) RequireScopes(ctx context.Context, next graphql.OperationHandler) graphql.ResponseHandler {
	session := SessionOf(ctx)
	if session.Grant == nil {
		return next(ctx)
	}
	check := scopeCheck{session: session, seen: map[*ast.FragmentDefinition]bool{}}
	if err := check.selection(graphql.GetOperationContext(ctx).Operation.SelectionSet); err != nil {
		return g.Errors.Refuse(ctx, err)
	}
	return next(ctx)
}

// scopeCheck searches for fields beyond the scopes of a session.
type scopeCheck struct {
	session social.Session
	seen    map[*ast.FragmentDefinition]bool
}

func (c *scopeCheck) selection(selected ast.SelectionSet) error {
	for _, one := range selected {
		var err error
		switch one := one.(type) {
		case *ast.Field:
			if err = c.field(one); err == nil {
				err = c.selection(one.SelectionSet)
			}
		case *ast.InlineFragment:
			err = c.selection(one.SelectionSet)
		case *ast.FragmentSpread:
			if !c.seen[one.Definition] {
				c.seen[one.Definition] = true
				err = c.selection(one.Definition.SelectionSet)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *scopeCheck) field(f *ast.Field) error {
	directive := f.Definition.Directives.ForName("scope")
	if directive == nil {
		return nil
	}
	needs := directive.Arguments.ForName("needs")
	if needs == nil {
		return fault.Errorf(fault.CodeForbidden, "", "No access token may select %s: sign in.", f.Name)
	}
	if !c.session.May(social.Scope(needs.Value.Raw)) {
		return fault.Errorf(fault.CodeForbidden, "", "This access token lacks the scope %s, which %s needs.", needs.Value.Raw, f.Name)
	}
	return nil
}
