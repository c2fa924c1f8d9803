package api

import (
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"

	"plaza/internal/plazatest"
)

// TestFieldsThatFailAloneAreNullable checks the rule of ADR 31: a field with arguments can be
// refused, and is then null without affecting others.
func TestFieldsThatFailAloneAreNullable(t *testing.T) {
	t.Parallel()
	for name, def := range schema.Types {
		if def.BuiltIn || def == schema.Subscription || (def.Kind != ast.Object && def.Kind != ast.Interface) {
			continue
		}
		for _, field := range def.Fields {
			if field.Type.NonNull && len(field.Arguments) > 0 && !strings.HasPrefix(field.Name, "__") {
				t.Errorf("%s.%s takes arguments: it must be nullable", name, field.Name)
			}
		}
	}
}

// TestErrorsLeaveOtherFieldsIntact makes fields fail under the viewer, a user, a post and at the
// root. All other fields are answered.
func TestErrorsLeaveOtherFieldsIntact(t *testing.T) {
	t.Parallel()
	plaza := plazatest.Start(t, plazatest.Engines[0])
	ada := plaza.As(t, "ada")
	post := ada.Status(t, "hello", plazatest.Public)
	for operation, want := range map[string]string{
		`{ viewer { user { handle } news(after: "x") { nodes { id } } } }`:                `{"viewer":{"user":{"handle":"ada"},"news":null}}`,
		`{ viewer { wallPolicy circles(first: 0) { nodes { id } } } }`:                    `{"viewer":{"wallPolicy":"EVERYONE","circles":null}}`,
		`{ user(handle: "ada") { handle wall(last: 101) { nodes { id } } } }`:             `{"user":{"handle":"ada","wall":null}}`,
		`{ post(id: "` + post + `") { text comments(before: "x") { nodes { id } } } }`:    `{"post":{"text":"hello","comments":null}}`,
		`{ post(id: "` + post + `") { text latestComments(last: 9) { id } } }`:            `{"post":{"text":"hello","latestComments":null}}`,
		`{ nodes(ids: ["x"]) { id } user(handle: "ada") { handle } }`:                     `{"nodes":null,"user":{"handle":"ada"}}`,
		`{ usersByName(startsWith: "") { nodes { id } } user(handle: "ada") { handle } }`: `{"usersByName":null,"user":{"handle":"ada"}}`,
		`{ ads(site: "a/b", zone: "c") { id } user(handle: "ada") { handle } }`:           `{"ads":null,"user":{"handle":"ada"}}`,
	} {
		answer := verdictOf(t, ada, operation, nil, "").raw
		if !strings.Contains(answer, `"data":`+want) || !strings.Contains(answer, "BAD_USER_INPUT") {
			t.Errorf("%s: %s, want %s", operation, answer, want)
		}
	}
}
