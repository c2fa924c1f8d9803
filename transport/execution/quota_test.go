package execution

import (
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"plaza/transport/document"
)

// TestBeginningsAreCharged: a subscription pays for what it reads when it begins, besides the cost
// of an item.
func TestBeginningsAreCharged(t *testing.T) {
	t.Parallel()
	op := &document.Operation{
		Context: &graphql.OperationContext{Operation: &ast.OperationDefinition{Operation: ast.Subscription}},
		Cost:    &document.Cost{Requested: 3, Beginning: 100},
	}
	if got := chargeOf(op); got.Cost != 103 {
		t.Errorf("charged %+v", got)
	}
}
