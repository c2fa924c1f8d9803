package document

import (
	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
)

// Operation is a request that may run: parsed, within the limits, valid, costed.
type Operation struct {
	Context *graphql.OperationContext
	Cost    *Cost

	root string // the name of the type that it selects from
}

// Kind returns query, mutation or subscription.
func (o *Operation) Kind() ast.Operation { return o.Context.Operation.Operation }

// RootFields returns the names of the fields that the operation selects at its root, except those
// that @skip and @include leave out.
func (o *Operation) RootFields() (names []string) {
	for _, field := range graphql.CollectFields(o.Context, o.Context.Operation.SelectionSet, []string{o.root}) {
		names = append(names, field.Name)
	}
	return names
}

// Again returns the operation for other executions, with their own statistics.
func (o *Operation) Again() *Operation {
	c := o.Context
	return &Operation{
		Context: &graphql.OperationContext{
			RawQuery: c.RawQuery, Variables: c.Variables, OperationName: c.OperationName, Doc: c.Doc, Extensions: c.Extensions, Operation: c.Operation,
			RecoverFunc: c.RecoverFunc, ResolverMiddleware: c.ResolverMiddleware, RootResolverMiddleware: c.RootResolverMiddleware,
		},
		Cost: o.Cost,
		root: o.root,
	}
}

// rootOf returns the name of the type that operations of a kind select from.
func rootOf(schema *ast.Schema, kind ast.Operation) string {
	root := schema.Query
	switch kind {
	case ast.Mutation:
		root = schema.Mutation
	case ast.Subscription:
		root = schema.Subscription
	case ast.Query:
	}
	return root.Name
}
