package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plaza/internal/plazatest"
)

// TestOnlyTrustedDocuments starts a server with a manifest. The server runs the documents of the
// manifest, and no others.
func TestOnlyTrustedDocuments(t *testing.T) {
	t.Parallel()
	server := plazatest.StartProcess(t, "--trusted-documents", manifest(t, `{"me":"query Me { viewer { user { handle } } }"}`), "--only-trusted-documents", "--drain-delay=0s")
	anyone := plazatest.Person{URL: server.URL(t)}
	for body, want := range map[string]string{
		`{"documentId":"me"}`: `"data":{"viewer":`,
		`{"query":"query Me { viewer { user { handle } } }"}`:         `"data":{"viewer":`,
		`{"query":"query Other { viewer { user { name handle } } }"}`: `"QUERY_NOT_IN_SAFELIST"`,
		`{"documentId":"other"}`:                                      `"PERSISTED_QUERY_NOT_FOUND"`,
	} {
		if answer := anyone.Post(t, []byte(body)); !strings.Contains(string(answer), want) {
			t.Errorf("%s: %s", body, answer)
		}
	}
}

// TestBadManifests: the server does not start, and names the document that is wrong.
func TestBadManifests(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--trusted-documents", manifest(t, `{"me":"{ vewer { id } }"}`)}, `the document "me" cannot run here: input:1:3: Cannot query field "vewer"`},
		{[]string{"--trusted-documents", filepath.Join(t.TempDir(), "missing.json")}, "no such file"},
		{[]string{"--only-trusted-documents"}, "requires --trusted-documents"},
	} {
		data := filepath.Join(t.TempDir(), "data")
		command, _, stderr := plazatest.Command(t.Context(), data, append([]string{"serve", "--addr", "127.0.0.1:0"}, c.args...)...)
		_ = command.Run()
		if code := command.ProcessState.ExitCode(); code < 1 || !strings.HasPrefix(stderr.String(), "plaza: ") || !strings.Contains(stderr.String(), c.want) {
			t.Errorf("%v: exit code %d, says %q", c.args, code, stderr)
		}
		if made, _ := filepath.Glob(data); len(made) > 0 {
			t.Errorf("%v: a database was created", c.args)
		}
	}
}

func manifest(t *testing.T, content string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "manifest.json")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
