package document

import (
	"testing"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"
	"github.com/vektah/gqlparser/v2/validator"

	"plaza/transport/internal/testapi"
)

// TestIntsOf32Bits: every Int that is too large is one error, with the same words.
func TestIntsOf32Bits(t *testing.T) {
	const tooLarge = "Int cannot represent a value outside -2147483648 to 2147483647."
	schema := testapi.NewExecutableSchema(testapi.Config{}).Schema()
	for value, want := range map[string]string{
		"2147483647":           "",
		"2147483648":           tooLarge,
		"-2147483649":          tooLarge,
		"9223372036854775808":  tooLarge,
		"-9223372036854775809": tooLarge,
		"1.5":                  "Int cannot represent non-integer value: 1.5",
	} {
		doc, err := parser.ParseQuery(&ast.Source{Input: `{ number(n: ` + value + `) }`})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, err := range validator.ValidateWithRules(schema, doc, newRules()) {
			got = append(got, err.Message)
		}
		if want == "" && len(got) > 0 || want != "" && (len(got) != 1 || got[0] != want) {
			t.Errorf("%s: %q, want %q", value, got, want)
		}
	}
}
