package answer

import (
	"slices"

	"github.com/99designs/gqlgen/graphql/introspection"
	"github.com/vektah/gqlparser/v2/ast"
)

// ListOf returns a list of an introspected type if it is of one of the kinds that have this list.
// For others it is null, but gqlgen's are empty.
func ListOf[T any](t *introspection.Type, list []T, kinds ...ast.DefinitionKind) []T {
	if !slices.Contains(kinds, ast.DefinitionKind(t.Kind())) {
		return nil
	}
	return list
}

// InterfacesOf returns the interfaces of an introspected type. gqlgen has none for interfaces.
func InterfacesOf(schema *ast.Schema, t *introspection.Type) []introspection.Type {
	if t.Kind() != string(ast.Interface) {
		return ListOf(t, t.Interfaces(), ast.Object)
	}
	interfaces := []introspection.Type{}
	for _, name := range schema.Types[*t.Name()].Interfaces {
		interfaces = append(interfaces, *introspection.WrapTypeFromDef(schema, schema.Types[name]))
	}
	return interfaces
}
