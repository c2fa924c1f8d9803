package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"plaza/internal/plazatest"
)

// TestTooLargeAnswer: a mutation whose answer is too large has run, so it counts like any other,
// and its answer has the error.
func TestTooLargeAnswer(t *testing.T) {
	t.Parallel()
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		plaza := plazatest.Start(t, e)
		metrics := httptest.NewServer(plaza.Server.Metrics.Handler())
		defer metrics.Close()
		ada := plaza.As(t, "ada")
		for range 5 {
			ada.Status(t, strings.Repeat("\U0001f600", 10_000), plazatest.Public) // 40 KB
		}
		var aliases strings.Builder
		for i := range 100 {
			fmt.Fprintf(&aliases, "a%d: text ", i)
		}
		body, err := json.Marshal(map[string]any{
			"query": `mutation Large { updateProfile(input: {bio: "changed"}) { user { wall(first: 5) { nodes { ... on StatusPost { ` + aliases.String() + ` } } } } } }`,
		})
		if err != nil {
			t.Fatal(err)
		}
		response, answer := ada.Send(t, body)
		if response.StatusCode != http.StatusOK || !bytes.Contains(answer, []byte(`"data":null`)) || !bytes.Contains(answer, []byte(`"code":"QUERY_TOO_COMPLEX"`)) {
			t.Errorf("%d %.300s", response.StatusCode, answer)
		}
		if got := ada.Raw(t, `{ viewer { user { bio } } }`); !strings.Contains(got, `"changed"`) {
			t.Errorf("the mutation has not run: %s", got)
		}
		for _, name := range []string{
			`plaza_graphql_operations_total{code="QUERY_TOO_COMPLEX",type="mutation"}`,
			`plaza_graphql_named_operations_total{code="QUERY_TOO_COMPLEX",operation="Large"}`,
		} {
			if got := scraped(t, metrics.URL, name); got != 1 {
				t.Errorf("%s is %v, want 1", name, got)
			}
		}
	})
}
