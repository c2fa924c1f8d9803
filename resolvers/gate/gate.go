package gate

import (
	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"plaza/resolvers/presenter"
	"plaza/social/network"
)

// Gate has what decisions about operations need.
type Gate struct {
	Social *network.Service
	Errors *presenter.Presenter
	// Issuer verifies the tokens of another site; nil: there is none.
	Issuer Issuer
	// MembersOnly allows only signed-in users to read.
	MembersOnly bool
}

// rootFields returns the fields of Query, Mutation or Subscription that an operation selects.
func rootFields(op *graphql.OperationContext) []graphql.CollectedField {
	root := map[ast.Operation]string{ast.Query: "Query", ast.Mutation: "Mutation", ast.Subscription: "Subscription"}[op.Operation.Operation]
	return graphql.CollectFields(op, op.Operation.SelectionSet, []string{root})
}
