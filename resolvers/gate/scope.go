package gate

import (
	"context"
	"strings"

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
	check := scopeCheck{session: session, seen: map[spread]bool{}}
	if err := check.selection(graphql.GetOperationContext(ctx).Operation.SelectionSet, false); err != nil {
		return g.Errors.Refuse(ctx, err)
	}
	return next(ctx)
}

// ViewerOf returns the user whose view an operation shows: ctx's user, or the zero id if the
// operation shows what signed-out users see. An access token without the scope READ_FEED reads like
// them; what its mutations return is the owner's view, but RequireScopes leaves only ids of it.
func ViewerOf(ctx context.Context) social.UserID {
	session := SessionOf(ctx)
	if graphql.GetOperationContext(ctx).Operation.Operation != ast.Mutation && !session.May(social.ScopeReadFeed) {
		return social.UserID{}
	}
	return session.User
}

// scopeCheck searches for fields beyond the scopes of a session.
type scopeCheck struct {
	session social.Session
	seen    map[spread]bool
}

// spread is a fragment, and whether it may select nothing but ids.
type spread struct {
	fragment *ast.FragmentDefinition
	idsOnly  bool
}

func (c *scopeCheck) selection(selected ast.SelectionSet, idsOnly bool) error {
	for _, one := range selected {
		var err error
		switch one := one.(type) {
		case *ast.Field:
			if err = c.field(one, idsOnly); err == nil {
				err = c.selection(one.SelectionSet, idsOnly || c.returnsIDsOnly(one))
			}
		case *ast.InlineFragment:
			err = c.selection(one.SelectionSet, idsOnly)
		case *ast.FragmentSpread:
			if this := (spread{one.Definition, idsOnly}); !c.seen[this] {
				c.seen[this] = true
				err = c.selection(one.Definition.SelectionSet, idsOnly)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *scopeCheck) field(f *ast.Field, idsOnly bool) error {
	if idsOnly && !isEnvelope(f.ObjectDefinition.Name) && f.Name != "id" && f.Name != "__typename" {
		return lacks(social.ScopeReadFeed, f)
	}
	switch needs, has := scopeOf(f.Definition); {
	case !has:
		return nil
	case needs == "":
		return fault.Errorf(fault.CodeForbidden, "", "No access token may select %s: sign in.", f.Name)
	case !c.session.May(needs):
		return lacks(needs, f)
	}
	return nil
}

// scopeOf returns the scope that an access token needs to select a field (@scope); "": none may
// select it. False: every token may.
func scopeOf(f *ast.FieldDefinition) (needs social.Scope, has bool) {
	directive := f.Directives.ForName("scope")
	if directive == nil {
		return "", false
	}
	if argument := directive.Arguments.ForName("needs"); argument != nil {
		needs = social.Scope(argument.Value.Raw)
	}
	return needs, true
}

func lacks(scope social.Scope, f *ast.Field) error {
	return fault.Errorf(fault.CodeForbidden, "", "This access token lacks the scope %s, which %s.%s needs.", scope, f.ObjectDefinition.Name, f.Name)
}

// returnsIDsOnly reports whether a field is a mutation that returns what needs READ_FEED, and the
// session lacks it. The mutations of MANAGE_ADS and ADMIN return only what these scopes may read.
func (c *scopeCheck) returnsIDsOnly(f *ast.Field) bool {
	if f.ObjectDefinition.Name != "Mutation" || c.session.May(social.ScopeReadFeed) {
		return false
	}
	needs, _ := scopeOf(f.Definition)
	return needs != social.ScopeManageAds && needs != social.ScopeAdmin
}

// isEnvelope reports whether objects of a type only tell what a mutation did, and contain the
// objects that it changed.
func isEnvelope(name string) bool {
	return strings.HasSuffix(name, "Payload") || strings.HasSuffix(name, "Edge") || name == "UserError"
}
