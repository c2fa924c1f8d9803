package resolvers_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"plaza/graph/generated"
	"plaza/resolvers"
)

// TestSDLIsTheSchema reads the document back: it defines every type, field, argument, default and
// description, and nothing else.
func TestSDLIsTheSchema(t *testing.T) {
	t.Parallel()
	text := resolvers.SDL()
	if !strings.Contains(text, "\ndirective @oneOf on INPUT_OBJECT\n") {
		t.Error("the document does not define @oneOf")
	}
	got, err := gqlparser.LoadSchema(&ast.Source{Name: "schema.graphql", Input: text})
	if err != nil {
		t.Fatal(err)
	}
	want := generated.NewExecutableSchema(generated.Config{}).Schema()
	ignored := cmp.Options{
		cmpopts.IgnoreTypes(&ast.Position{}, &ast.CommentGroup{}),
		cmpopts.IgnoreFields(ast.Schema{}, "Directives"), // @oneOf has a description here
		cmpopts.IgnoreFields(ast.Directive{}, "ParentDefinition", "Definition"),
		cmpopts.SortMaps(func(a, b string) bool { return a < b }),
	}
	for name, definition := range want.Types {
		if diff := cmp.Diff(definition, got.Types[name], ignored); diff != "" {
			t.Errorf("%s (-schema +document):\n%.2000s", name, diff)
		}
	}
	if len(got.Types) != len(want.Types) {
		t.Errorf("the document has %d types, and the schema %d", len(got.Types), len(want.Types))
	}
}
