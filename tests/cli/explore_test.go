package cli

import (
	"net/http"
	"strings"
	"testing"

	"plaza/internal/plazatest"
)

// TestDisabledIntrospection: without its pages and introspection a server shows neither a page nor
// its schema, and answers everything else.
func TestDisabledIntrospection(t *testing.T) {
	t.Parallel()
	server := plazatest.StartProcess(t, "--graphiql=off", "--app=off", "--introspection=off", "--drain-delay=0s")
	anyone := plazatest.Person{URL: server.URL(t)}
	for _, path := range []string{"/", "/graphiql/config.json", "/app/", "/app/config.json", "/schema.graphql"} {
		if status := plazatest.StatusOf(t, anyone.URL+path); status != http.StatusNotFound {
			t.Errorf("%s: status %d", path, status)
		}
	}
	for _, query := range []string{
		`{ __schema { queryType { name } } }`,
		`{ viewer { __typename } type: __type(name: "User") { name } }`,
		`{ ...Hidden } fragment Hidden on Query { ... on Query { __schema { types { name } } } }`,
		`query Ran { viewer { __typename } } query NotRan { __schema { types { name } } }`,
	} {
		if answer := anyone.Raw(t, query); !strings.Contains(answer, `"INTROSPECTION_DISABLED"`) {
			t.Errorf("%s: %s", query, answer)
		}
	}
	if answer := anyone.Raw(t, `{ __typename viewer { __typename } }`); !strings.Contains(answer, `"__typename": "Query"`) {
		t.Errorf("__typename: %s", answer)
	}
}
