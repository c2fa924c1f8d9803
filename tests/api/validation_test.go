package api

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/vektah/gqlparser/v2/ast"

	"plaza/internal/plazatest"
)

// TestOneOfErrorsNameArgument sends @oneOf inputs with the wrong number of fields, as literals and
// as defaults of variables.
func TestOneOfErrorsNameArgument(t *testing.T) {
	t.Parallel()
	ada := plazatest.Start(t, plazatest.Engines[0]).As(t, "ada")
	const create = `createPost(input: {audience: {kind: PUBLIC}, content: $content}) { post { id } userErrors { code path } }`
	for _, content := range []string{
		`{}`, `{photo: null}`, `{poll: null}`, `{status: null}`, `{status: {text: "x"}, link: {url: "https://example.org/"}}`, `{status: {text: "x"}, photo: null}`,
	} {
		for operation, argument := range map[string]string{
			`mutation { ` + strings.Replace(create, "$content", content, 1) + ` }`:                                                   "input.content",
			`mutation { a: ` + strings.Replace(create, "$content", content, 1) + ` }`:                                                "input.content",
			`mutation($content: PostContentInput! = ` + content + `) { ` + create + ` }`:                                             "variables.content",
			`mutation { editPost(input: {postId: "x", content: ` + content + `}) { userErrors { code } } }`:                          "input.content",
			`mutation($x: EditPostInput! = {postId: "x", content: ` + content + `}) { editPost(input: $x) { userErrors { code } } }`: "variables.x.content",
		} {
			got := verdictOf(t, ada, operation, nil, "")
			if got.code != "GRAPHQL_VALIDATION_FAILED" || got.at != argument {
				t.Errorf("%s: got %s for %q, want an error for %q (%s)", operation, got.code, got.at, argument, got.raw)
			}
			if strings.Contains(got.raw, "PostContentInput.") || strings.Count(got.raw, `"message"`) != 1 {
				t.Errorf("%s: %s", operation, got.raw)
			}
		}
	}
}

// TestPossibleTypesAreObjects checks introspection against the specification: possible types are
// object types that implement the interface.
func TestPossibleTypesAreObjects(t *testing.T) {
	t.Parallel()
	var answer struct {
		Schema struct {
			Types []struct {
				Name          string
				PossibleTypes []struct{ Name, Kind string }
			}
		} `json:"__schema"`
	}
	plazatest.Start(t, plazatest.Engines[0]).As(t, "anyone").Do(t, `{ __schema { types { name possibleTypes { name kind } } } }`, nil, &answer)
	got, want := map[string][]string{}, map[string][]string{}
	for _, of := range answer.Schema.Types {
		for _, possible := range of.PossibleTypes {
			got[of.Name] = append(got[of.Name], possible.Name)
		}
		slices.Sort(got[of.Name])
	}
	for _, name := range slices.Sorted(maps.Keys(schema.Types)) {
		if def := schema.Types[name]; def.Kind == ast.Object {
			for _, of := range def.Interfaces {
				want[of] = append(want[of], name)
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("possibleTypes (-want +got)\n%s", diff)
	}
}
