package document

import (
	"math"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/validator"
	"github.com/vektah/gqlparser/v2/validator/rules"
)

// newRules returns the specification's validation rules without suggestions: "did you mean" would
// compare every unknown name with the whole schema, which takes long, and GraphiQL makes the same
// suggestions itself.
func newRules() *rules.Rules {
	all := rules.NewDefaultRules()
	for _, plain := range []validator.Rule{
		rules.FieldsOnCorrectTypeRuleWithoutSuggestions,
		rules.KnownArgumentNamesRuleWithoutSuggestions,
		rules.KnownTypeNamesRuleWithoutSuggestions,
		rules.ScalarLeafsRuleWithoutSuggestions,
	} {
		all.RemoveRule(strings.TrimSuffix(plain.Name, "WithoutSuggestions"))
		all.AddRule(plain.Name, plain.RuleFunc)
	}
	all.RemoveRule(rules.ValuesOfCorrectTypeRule.Name)
	all.AddRule(rules.ValuesOfCorrectTypeRule.Name, withoutOwn(rules.ValuesOfCorrectTypeRuleWithoutSuggestions.RuleFunc))
	all.AddRule("OneOf", oneOf)
	all.AddRule("IntRange", intRange)
	return all
}

// withoutOwn drops the errors of gqlparser's rule that oneOf and intRange report. About @oneOf
// inputs it names the first field of the input, whichever is null, and not the argument; about
// Ints, it reports only those beyond 64 bits.
func withoutOwn(rule validator.RuleFunc) validator.RuleFunc {
	return func(events *validator.Events, addError validator.AddErrFunc) {
		rule(events, func(options ...validator.ErrorOption) {
			var err gqlerror.Error
			for _, option := range options {
				option(&err)
			}
			isOneOf := strings.HasPrefix(err.Message, "OneOf Input Object ") || strings.HasSuffix(err.Message, " must be non-null.")
			if !isOneOf && !strings.HasPrefix(err.Message, "Int cannot represent non 32-bit signed integer value") {
				addError(options...)
			}
		})
	}
}

// intRange rejects Int literals beyond 32 bits.
func intRange(events *validator.Events, addError validator.AddErrFunc) {
	events.OnValue(func(_ *validator.Walker, value *ast.Value) {
		isInt := value.Kind == ast.IntValue && value.Definition != nil && value.Definition.Name == "Int"
		if isInt && !isInt32(value.Raw) {
			addError(
				validator.Message("Int cannot represent a value outside %d to %d.", math.MinInt32, math.MaxInt32),
				func(err *gqlerror.Error) {
					err.Locations = append(err.Locations, gqlerror.Location{Line: value.Position.Line, Column: value.Position.Column})
				},
			)
		}
	})
}
