package resolvers

import (
	"context"
	"slices"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
)

// showsPeople reports whether the operation selects people named by posts or comments.
func showsPeople(ctx context.Context) bool {
	o := graphql.GetOperationContext(ctx)
	return selectsPeople(o.Operation.SelectionSet) ||
		slices.ContainsFunc(o.Doc.Fragments, func(f *ast.FragmentDefinition) bool { return selectsPeople(f.SelectionSet) })
}

func selectsPeople(set ast.SelectionSet) bool {
	return slices.ContainsFunc(set, func(selection ast.Selection) bool {
		switch s := selection.(type) {
		case *ast.Field:
			return s.Name == "author" || s.Name == "wallOwner" || selectsPeople(s.SelectionSet)
		case *ast.InlineFragment:
			return selectsPeople(s.SelectionSet)
		}
		return false // fragments are examined separately
	})
}

// selection returns the names of all fields, at any depth, selected below the field of ctx.
func selection(ctx context.Context) map[string]bool {
	names := map[string]bool{}
	selectedFields(graphql.GetOperationContext(ctx).Doc, graphql.GetFieldContext(ctx).Field.SelectionSet, names)
	return names
}

// selectedFields collects the names of all fields at any depth of a selection. A field at another
// depth, or skipped by a directive, at worst costs an unneeded look-up.
func selectedFields(doc *ast.QueryDocument, set ast.SelectionSet, names map[string]bool) {
	for _, selection := range set {
		switch s := selection.(type) {
		case *ast.Field:
			names[s.Name] = true
			selectedFields(doc, s.SelectionSet, names)
		case *ast.InlineFragment:
			selectedFields(doc, s.SelectionSet, names)
		case *ast.FragmentSpread:
			if fragment := doc.Fragments.ForName(s.Name); fragment != nil {
				selectedFields(doc, fragment.SelectionSet, names)
			}
		}
	}
}
