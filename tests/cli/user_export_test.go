package cli

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"plaza/internal/plazatest"
)

// TestUserExport: an operator gets what the user gets, byte for byte, while a server runs and after
// that.
func TestUserExport(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	server := plazatest.StartProcess(t, "--data", data, "--drain-delay=0s")
	anyone := plazatest.Person{URL: server.URL(t)}
	token := field(anyone.Raw(t, `mutation { signUp(input: {handle: "ada", name: "Ada", password: "analytical engine"}) { token } }`), "token")
	ada := plazatest.Person{URL: anyone.URL, Token: token}
	for i := range 25 { // more than a page, and more than a buffer
		ada.Status(t, fmt.Sprintf("%d <b>&\n\u2028שלום ", i)+strings.Repeat("long ", 200), plazatest.Public)
	}
	want := used(downloadOf(t, ada))
	if !strings.HasSuffix(want, "{\"type\":\"end\"}\n") || strings.Count(want, `"type":"post"`) != 25 {
		t.Fatalf("the user's own export is: %s", want)
	}
	exported := func(when string) {
		t.Helper()
		for _, c := range []struct {
			handle, stdout, stderr string
			code                   int
		}{
			{"ada", want, "", 0},
			{"@ADA", want, "", 0},
			{"bob", "", "plaza: there is no user \"bob\"\n", 1},
		} {
			command, stdout, stderr := plazatest.Command(t.Context(), data, "user", "export", c.handle)
			_ = command.Run() // the exit code is compared
			if code := command.ProcessState.ExitCode(); used(stdout.String()) != c.stdout || stderr.String() != c.stderr || code != c.code {
				t.Errorf("%s, %s: exit code %d, says %q and %q", when, c.handle, code, stdout, stderr)
			}
		}
	}
	exported("beside a server")
	server.Terminate(t)
	exported("without a server")
}

// used removes when sessions were used last.
func used(export string) string {
	return regexp.MustCompile(`"lastUsedAt":"[^"]*"`).ReplaceAllString(export, `"lastUsedAt":"…"`)
}

func downloadOf(t *testing.T, p plazatest.Person) string {
	t.Helper()
	status, text := plazatest.Get(t, p.URL+"/export", "Bearer "+p.Token)
	if status != http.StatusOK {
		t.Fatalf("status %d: %s", status, text)
	}
	return text
}
