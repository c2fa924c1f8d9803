package document

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/validator"

	"plaza/transport/codes"
)

// coerceVariables checks the variables against the operation and applies its defaults. The error
// names the variable in its message and in extensions.variable, as in "variables.input.text".
func coerceVariables(schema *ast.Schema, operation *ast.OperationDefinition, raw map[string]any) (map[string]any, *gqlerror.Error) {
	checker := variableChecker{schema}
	for _, definition := range operation.VariableDefinitions {
		path := "variables." + definition.Variable
		if err := checker.check(definition.Type, raw[definition.Variable], path); err != nil {
			return nil, err
		}
	}
	values, err := validator.VariableValues(schema, operation, raw)
	if err != nil {
		return nil, variableError(err)
	}
	return values, nil
}

// variableError converts gqlparser's error, whose path starts with "variable".
func variableError(err error) *gqlerror.Error {
	var cause *gqlerror.Error
	if !errors.As(err, &cause) || len(cause.Path) == 0 {
		return codes.Errorf(codes.BadUserInput, "variables: %v", err)
	}
	var path strings.Builder
	path.WriteString("variables")
	for _, element := range cause.Path[1:] {
		fmt.Fprintf(&path, ".%v", element)
	}
	return badVariable(path.String(), "%s", cause.Message)
}

func badVariable(path, format string, args ...any) *gqlerror.Error {
	path = codes.Truncate(path, codes.MaxMessage/2)
	err := codes.Errorf(codes.BadUserInput, "%s: %s", path, fmt.Sprintf(format, args...))
	err.Extensions["variable"] = path
	return err
}

// variableChecker validates scalars by the specification where gqlparser is lax: it accepts 64-bit
// and quoted numbers for Int, and numbers for String. Absent, unknown and null values are left to
// gqlparser.
type variableChecker struct{ schema *ast.Schema }

func (c variableChecker) check(typ *ast.Type, value any, path string) *gqlerror.Error {
	if value == nil {
		return nil
	}
	if typ.Elem != nil {
		items, ok := value.([]any)
		if !ok {
			return c.check(typ.Elem, value, path) // a single value is a list of one
		}
		for i, item := range items {
			if err := c.check(typ.Elem, item, path+"."+strconv.Itoa(i)); err != nil {
				return err
			}
		}
		return nil
	}
	definition := c.schema.Types[typ.NamedType]
	if definition == nil {
		return nil
	}
	switch definition.Kind {
	case ast.Scalar, ast.Enum:
		if !fitsScalar(definition, value) {
			return badVariable(path, "%s is not a valid %s", kindOf(value), typ.NamedType)
		}
	case ast.InputObject:
		return c.checkObject(definition, value, path)
	default: // output types, which validation has rejected
	}
	return nil
}

func (c variableChecker) checkObject(definition *ast.Definition, value any, path string) *gqlerror.Error {
	members, ok := value.(map[string]any)
	if !ok {
		return badVariable(path, "%s is not a valid %s", kindOf(value), definition.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		field := definition.Fields.ForName(name)
		if field == nil {
			return badVariable(path+"."+name, "%s has no such field", definition.Name)
		}
		if members[name] == nil && definition.Directives.ForName("oneOf") != nil {
			return badVariable(path+"."+name, "exactly one field of %s must be given, and not as null", definition.Name)
		}
		if err := c.check(field.Type, members[name], path+"."+name); err != nil {
			return err
		}
	}
	return nil
}

// fitsScalar checks values of the built-in scalars and enums. Custom scalars check their values
// themselves.
func fitsScalar(definition *ast.Definition, value any) bool {
	switch definition.Name {
	case "Int":
		number, ok := value.(json.Number)
		return ok && isInt32(number.String())
	case "Float":
		number, ok := value.(json.Number)
		if !ok {
			return false
		}
		_, err := number.Float64()
		return err == nil
	case "ID":
		if number, ok := value.(json.Number); ok {
			_, err := number.Int64()
			return err == nil
		}
		_, ok := value.(string)
		return ok
	case "String":
		_, ok := value.(string)
		return ok
	case "Boolean":
		_, ok := value.(bool)
		return ok
	}
	if definition.Kind == ast.Enum {
		name, ok := value.(string)
		return ok && definition.EnumValues.ForName(name) != nil
	}
	return true
}

func isInt32(text string) bool {
	_, err := strconv.ParseInt(text, 10, 32)
	return err == nil
}

func kindOf(value any) string {
	switch value.(type) {
	case json.Number:
		return "this number"
	case string:
		return "this string"
	case bool:
		return "a boolean"
	case []any:
		return "a list"
	}
	return "an object"
}
