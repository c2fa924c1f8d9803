package main

import (
	"fmt"

	"github.com/99designs/gqlgen/codegen"
	"github.com/vektah/gqlparser/v2/ast"
)

// isPlain reports whether a field only shows a scalar or an enum that its object has: it needs no
// context of its own, and cannot fail.
func isPlain(f *codegen.Field) bool {
	t := f.TypeReference
	isLeaf := t.Definition.Kind == ast.Scalar || t.Definition.Kind == ast.Enum
	mayFail := t.IsContext || t.GQL.NonNull && t.IsNilable() && !t.IsSlice()
	for t.IsSlice() {
		t = t.Elem()
		mayFail = mayFail || t.IsContext
	}
	return isLeaf && !mayFail && !f.Object.Root && !f.IsResolver && len(f.Args) == 0 && !fails(f) && !f.MethodHasContext
}

// fails reports whether the value of a field comes with an error.
func fails(f *codegen.Field) bool { return f.IsResolver || f.IsMethod() && !f.NoErr }

// listKinds are the kinds of types for which a list of an introspected type is not null.
var listKinds = map[string]string{
	"fields": "ast.Object, ast.Interface", "possibleTypes": "ast.Interface, ast.Union", "enumValues": "ast.Enum", "inputFields": "ast.InputObject",
}

// value returns the Go expression for a field's value.
func value(f *codegen.Field) (string, error) {
	expression, err := valueOf(f)
	switch {
	case f.Object.Name == "__Type" && f.Name == "interfaces":
		return "answer.InterfacesOf(ec.Schema(), obj)", err
	case f.Object.Name == "__Type" && listKinds[f.Name] != "":
		return "answer.ListOf(obj, " + expression + ", " + listKinds[f.Name] + ")", err
	}
	return expression, err
}

func valueOf(f *codegen.Field) (string, error) {
	switch {
	case f.HasDirectives() || f.IsMap() || f.VOkFunc || f.HasHaser || f.TypeReference.IsRoot:
		return "", fmt.Errorf("%s.%s: Plaza's templates have no such fields", f.Object.Name, f.Name)
	case f.IsResolver:
		return "ec.resolvers." + f.ShortInvocation(), nil
	case f.IsMethod():
		return f.GoReceiverName + "." + f.GoFieldName + "(" + f.CallArgs() + ")", nil
	default:
		return f.GoReceiverName + "." + f.GoFieldName, nil
	}
}
