package api

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/formatter"

	"plaza/internal/plazatest"
)

const introspection = `{
  __schema { types { ...Type } directives { name description isRepeatable locations args { ...Value } } }
}
fragment Type on __Type {
  kind name description isOneOf specifiedByURL
  fields(includeDeprecated: true) { name description args { ...Value } type { ...Ref } isDeprecated deprecationReason }
  inputFields { ...Value }
  interfaces { name }
  enumValues(includeDeprecated: true) { name description isDeprecated deprecationReason }
  possibleTypes { name }
}
fragment Value on __InputValue { name description type { ...Ref } defaultValue isDeprecated deprecationReason }
fragment Ref on __Type { kind name ofType { kind name ofType { kind name ofType { kind name ofType { kind name } } } } }`

// introspected is what clients read. A list is nil if it is null.
type introspected struct {
	Types      []introspectedType
	Directives []struct {
		introspectedMember

		IsRepeatable bool
		Locations    []string
	}
}

type introspectedType struct {
	introspectedMember

	Kind           string
	IsOneOf        bool
	SpecifiedByURL string
	Fields         []introspectedMember
	InputFields    []introspectedMember
	Interfaces     []introspectedMember
	EnumValues     []introspectedMember
	PossibleTypes  []introspectedMember
}

type introspectedMember struct {
	Name, Description, DeprecationReason string
	IsDeprecated                         bool
	Args                                 []introspectedMember
	Type                                 typeRef
	DefaultValue                         *string
}

type typeRef struct {
	Kind, Name string
	OfType     *typeRef
}

// TestIntrospectionIsTheSDL builds a schema from what introspection answers: it is the one at
// /schema.graphql, except for the scopes, which introspection can't show.
func TestIntrospectionIsTheSDL(t *testing.T) {
	t.Parallel()
	plaza := plazatest.Start(t, plazatest.Engines[0])
	var answer struct {
		Schema introspected `json:"__schema"`
	}
	plaza.As(t, "anyone").Do(t, introspection, nil, &answer)

	want := loaded(t, served(t, plaza.URL+"/schema.graphql"))
	delete(want.Directives, "oneOf") // defined there for older tools; checkDirectives checks it
	for _, def := range want.Types {
		for _, field := range def.Fields {
			field.Directives = withoutScope(field.Directives)
		}
	}
	if diff := cmp.Diff(strings.Split(formatted(want), "\n"), strings.Split(formatted(loaded(t, answer.Schema.sdl(want))), "\n")); diff != "" {
		t.Errorf("introspection (-/schema.graphql +introspection):\n%.4000s", diff)
	}
	answer.Schema.checkLists(t)
	answer.Schema.checkDirectives(t)
}

// checkLists checks which lists of types are null, which schemas do not show.
func (s introspected) checkLists(t *testing.T) {
	t.Helper()
	for _, of := range s.Types {
		isComposite := of.Kind == "OBJECT" || of.Kind == "INTERFACE"
		for list, there := range map[string][2]bool{
			"fields":        {of.Fields != nil, isComposite},
			"interfaces":    {of.Interfaces != nil, isComposite},
			"possibleTypes": {of.PossibleTypes != nil, of.Kind == "INTERFACE" || of.Kind == "UNION"},
			"enumValues":    {of.EnumValues != nil, of.Kind == "ENUM"},
			"inputFields":   {of.InputFields != nil, of.Kind == "INPUT_OBJECT"},
		} {
			if there[0] != there[1] {
				t.Errorf("%s of %s %s: there %v, want %v", list, of.Kind, of.Name, there[0], there[1])
			}
		}
	}
}

// checkDirectives checks those that every schema has, and that documents need not define.
func (s introspected) checkDirectives(t *testing.T) {
	t.Helper()
	got := map[string]string{}
	for _, directive := range s.Directives {
		got[directive.Name] = strings.Join(directive.Locations, " | ")
	}
	if diff := cmp.Diff(map[string]string{
		"deprecated":  "FIELD_DEFINITION | ARGUMENT_DEFINITION | INPUT_FIELD_DEFINITION | ENUM_VALUE",
		"include":     "FIELD | FRAGMENT_SPREAD | INLINE_FRAGMENT",
		"oneOf":       "INPUT_OBJECT",
		"scope":       "FIELD_DEFINITION",
		"skip":        "FIELD | FRAGMENT_SPREAD | INLINE_FRAGMENT",
		"specifiedBy": "SCALAR",
	}, got); diff != "" {
		t.Errorf("directives (-want +got):\n%s", diff)
	}
}

// sdl writes what was introspected as a document, without what every schema has.
func (s introspected) sdl(like *ast.Schema) string {
	var text strings.Builder
	for _, directive := range s.Directives {
		if directive.Name == "scope" {
			fmt.Fprintf(&text, "%s directive @%s%s on %s\n", quoted(directive.Description), directive.Name, arguments(directive.Args), strings.Join(directive.Locations, " | "))
		}
	}
	keywords := map[string]string{"OBJECT": "type", "INTERFACE": "interface", "UNION": "union", "ENUM": "enum", "INPUT_OBJECT": "input", "SCALAR": "scalar"}
	for _, of := range s.Types {
		if def := like.Types[of.Name]; def != nil && def.BuiltIn {
			continue
		}
		fmt.Fprintf(&text, "%s %s %s", quoted(of.Description), keywords[of.Kind], of.Name)
		if len(of.Interfaces) > 0 {
			text.WriteString(" implements " + namesOf(of.Interfaces, " & "))
		}
		if of.SpecifiedByURL != "" {
			text.WriteString(" @specifiedBy(url: " + quoted(of.SpecifiedByURL) + ")")
		}
		if of.IsOneOf {
			text.WriteString(" @oneOf")
		}
		if of.Kind == "UNION" {
			text.WriteString(" = " + namesOf(of.PossibleTypes, " | "))
		}
		for _, list := range [][]introspectedMember{of.Fields, of.InputFields, of.EnumValues} {
			if len(list) > 0 {
				text.WriteString(" {\n" + members(list) + "}")
			}
		}
		text.WriteString("\n")
	}
	return text.String()
}

func arguments(list []introspectedMember) string {
	if len(list) == 0 {
		return ""
	}
	return "(\n" + members(list) + ")"
}

// members writes fields, arguments or values of enums.
func members(list []introspectedMember) string {
	var text strings.Builder
	for _, m := range list {
		text.WriteString(quoted(m.Description) + " " + m.Name + arguments(m.Args))
		if m.Type.Kind != "" {
			text.WriteString(": " + m.Type.String())
		}
		if m.DefaultValue != nil {
			text.WriteString(" = " + *m.DefaultValue)
		}
		if m.IsDeprecated {
			text.WriteString(" @deprecated(reason: " + quoted(m.DeprecationReason) + ")")
		}
		text.WriteString("\n")
	}
	return text.String()
}

func namesOf(list []introspectedMember, separator string) string {
	var all []string
	for _, m := range list {
		all = append(all, m.Name)
	}
	return strings.Join(all, separator)
}

func (r typeRef) String() string {
	switch r.Kind {
	case "NON_NULL":
		return r.OfType.String() + "!"
	case "LIST":
		return "[" + r.OfType.String() + "]"
	}
	return r.Name
}

// quoted returns a string literal; JSON's are GraphQL's.
func quoted(text string) string {
	literal, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(literal)
}

func withoutScope(all ast.DirectiveList) (rest ast.DirectiveList) {
	for _, directive := range all {
		if directive.Name != "scope" {
			rest = append(rest, directive)
		}
	}
	return rest
}

func loaded(t *testing.T, text string) *ast.Schema {
	t.Helper()
	schema, err := gqlparser.LoadSchema(&ast.Source{Name: "schema.graphql", Input: text})
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

func formatted(schema *ast.Schema) string {
	var text strings.Builder
	formatter.NewFormatter(&text).FormatSchema(schema)
	return text.String()
}

func served(t *testing.T, url string) string {
	t.Helper()
	_, text := plazatest.Get(t, url, "")
	return text
}
