package document

import (
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/validator"
)

// oneOf validates the literals of @oneOf inputs instead of gqlparser (see withoutOwn). Its errors
// name the argument or the input field that takes the input, as in "input.content".
func oneOf(events *validator.Events, addError validator.AddErrFunc) {
	events.OnField(func(_ *validator.Walker, field *ast.Field) {
		for _, argument := range field.Arguments {
			checkOneOf(argument.Name, argument.Value, addError)
		}
	})
	events.OnOperation(func(_ *validator.Walker, operation *ast.OperationDefinition) {
		for _, variable := range operation.VariableDefinitions {
			checkOneOf("variables."+variable.Variable, variable.DefaultValue, addError)
		}
	})
}

func checkOneOf(path string, value *ast.Value, addError validator.AddErrFunc) {
	if value == nil {
		return
	}
	if value.Kind == ast.ObjectValue && value.Definition != nil && value.Definition.Directives.ForName("oneOf") != nil && !hasOne(value) {
		addError(
			validator.Message("%s: exactly one field of %s must be given, and not as null", path, value.Definition.Name),
			func(err *gqlerror.Error) {
				err.Locations = []gqlerror.Location{{Line: value.Position.Line, Column: value.Position.Column}}
				err.Extensions = map[string]any{"argument": path}
			},
		)
	}
	for _, child := range value.Children {
		inside := path
		if child.Name != "" { // of an object; the items of a list have none
			inside += "." + child.Name
		}
		checkOneOf(inside, child.Value, addError)
	}
}

func hasOne(value *ast.Value) bool {
	return len(value.Children) == 1 && value.Children[0].Value.Kind != ast.NullValue
}
