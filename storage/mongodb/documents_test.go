package mongodb

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"testing"

	"plaza/storage/mongodb/internal/mdb"
)

// TestDocumentsArePairs: a key without a value panics, and no call in this engine has one.
func TestDocumentsArePairs(t *testing.T) {
	t.Parallel()
	func() {
		defer func() {
			if recover() == nil {
				t.Error("a key without a value is dropped")
			}
		}()
		mdb.Doc("_id", 1, "v") //nolint:staticcheck // the odd number of arguments is what is tested
	}()
	set, calls := token.NewFileSet(), 0
	for _, file := range append(must(filepath.Glob("*.go"))(t), must(filepath.Glob("internal/*/*.go"))(t)...) {
		ast.Inspect(must(parser.ParseFile(set, file, nil, 0))(t), func(n ast.Node) bool {
			call, isCall := n.(*ast.CallExpr)
			if !isCall {
				return true
			}
			if isDoc(call.Fun) && !call.Ellipsis.IsValid() {
				calls++
				if len(call.Args)%2 != 0 && file != "documents_test.go" {
					t.Errorf("%s: a key of the document has no value", set.Position(call.Pos()))
				}
			}
			return true
		})
	}
	if calls < 500 {
		t.Errorf("only %d documents were found", calls)
	}
}

// isDoc reports whether a call's function is mdb.Doc.
func isDoc(function ast.Expr) bool {
	switch f := function.(type) {
	case *ast.Ident:
		return f.Name == "Doc"
	case *ast.SelectorExpr:
		return f.Sel.Name == "Doc"
	}
	return false
}
