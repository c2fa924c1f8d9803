package mongodb

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"testing"
)

// TestDocumentsArePairs: a key without a value panics, and no call in this package has one.
func TestDocumentsArePairs(t *testing.T) {
	t.Parallel()
	func() {
		defer func() {
			if recover() == nil {
				t.Error("a key without a value is dropped")
			}
		}()
		doc("_id", 1, "v") //nolint:staticcheck // the odd number is the point
	}()
	files, set, calls := must(filepath.Glob("*.go"))(t), token.NewFileSet(), 0
	for _, file := range files {
		ast.Inspect(must(parser.ParseFile(set, file, nil, 0))(t), func(n ast.Node) bool {
			call, isCall := n.(*ast.CallExpr)
			if !isCall {
				return true
			}
			name, isName := call.Fun.(*ast.Ident)
			if isName && name.Name == "doc" && !call.Ellipsis.IsValid() {
				calls++
				if len(call.Args)%2 != 0 && file != "documents_test.go" {
					t.Errorf("%s: a key of the document has no value", set.Position(call.Pos()))
				}
			}
			return true
		})
	}
	if calls < 500 {
		t.Errorf("only %d documents were looked at", calls)
	}
}
