package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"plaza/fault"
)

// TestErrorsNameFlags: people who use the command line do not know the fields of GraphQL.
func TestErrorsNameFlags(t *testing.T) {
	t.Parallel()
	for field, want := range map[string]string{"expiresInDays": "--days: Too many.", "uses": "--uses: Too many.", "handle": "handle: Too many."} {
		if err := naming(fault.Invalidf(field, "Too many.")); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", field, err, want)
		}
	}
}

// TestHelpShowsDefaults: a placeholder such as HOST:PORT hides the default from kong's own help.
func TestHelpShowsDefaults(t *testing.T) {
	t.Parallel()
	var stdout bytes.Buffer
	parser, err := newParser(&commandLine{}, kong.Writers(&stdout, &stdout), kong.Exit(func(int) {}))
	if err != nil {
		t.Fatal(err)
	}
	_, _ = parser.Parse([]string{"serve", "--help"}) // writes the help, and would exit
	help := strings.Join(strings.Fields(stdout.String()), " ")
	for _, want := range []string{
		"Address to listen on. Default: 127.0.0.1:8080 ($PLAZA_ADDR).",
		"Folder of the embedded database; created if missing. Default: plaza-data ($PLAZA_DATA).",
		`--graphiql="on" Whether to serve GraphiQL at /: on or off ($PLAZA_GRAPHIQL).`,
		`--app="on" Whether to serve the web app at /app/: on or off ($PLAZA_APP).`,
	} {
		if !strings.Contains(help, want) {
			t.Errorf("the help lacks %q:\n%s", want, &stdout)
		}
	}
}
