package cli

import (
	"strings"
	"testing"

	"plaza/internal/plazatest"
)

// TestClosedRegistration: no one can sign up, whatever the input. People who have an account can
// sign in.
func TestClosedRegistration(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	openSQLite(t, data).Close()
	command, _, stderr := plazatest.Command(t.Context(), data, "user", "add", "ada")
	command.Stdin = strings.NewReader("analytical engine")
	if err := command.Run(); err != nil {
		t.Fatal(err, stderr)
	}
	server := plazatest.StartProcess(t, "--data", data, "--registration=closed", "--drain-delay=0s")
	anyone := plazatest.Person{URL: server.URL(t)}
	for query, want := range map[string]string{
		`{ registration }`: `"registration": "CLOSED"`,
		`mutation { signUp(input: {handle: "bob", name: "Bob", password: "analytical engine"}) { token userErrors { code path } } }`: `"NOT_ALLOWED"`,
		`mutation { signUp(input: {handle: "ada", name: "", password: "x"}) { token userErrors { code path } } }`:                    `"NOT_ALLOWED"`,
		`mutation { signIn(input: {handle: "ada", password: "analytical engine"}) { viewer { user { handle } } } }`:                  `"handle": "ada"`,
		`{ user(handle: "bob") { handle } }`: `"NOT_FOUND"`,
	} {
		if answer := anyone.Raw(t, query); !strings.Contains(answer, want) || strings.Contains(query, "signUp") && !strings.Contains(answer, `"token": null`) {
			t.Errorf("%s: %s", query, answer)
		}
	}
}
