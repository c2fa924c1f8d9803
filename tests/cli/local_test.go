package cli

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"plaza/internal/plazatest"
)

// did is what a command did.
type did struct {
	Args           []string
	Stdout, Stderr string
	ExitCode       int
}

// do runs a command; ids and days are replaced.
func do(t *testing.T, data, stdin string, args ...string) did {
	t.Helper()
	command, stdout, stderr := plazatest.Command(t.Context(), data, args...)
	command.Stdin = strings.NewReader(stdin)
	_ = command.Run() // the exit code is compared
	hide := func(text string) string {
		return regexp.MustCompile(`(user|invite|invitation)_\w+|\d{4}-\d\d-\d\d(T[\d:.]+Z| \d\d:\d\d UTC)?`).ReplaceAllString(text, "…")
	}
	return did{args, hide(stdout.String()), hide(stderr.String()), command.ProcessState.ExitCode()}
}

// TestCommandsWhileAServerRuns: commands do the same as without a server, and the server sees it
// immediately.
func TestCommandsWhileAServerRuns(t *testing.T) {
	t.Parallel()
	alone, shared := t.TempDir(), t.TempDir()
	openSQLite(t, alone).Close()
	server := plazatest.StartProcess(t, "--data", shared, "--drain-delay=0s")
	anyone := plazatest.Person{URL: server.URL(t)}
	socket := filepath.Join(shared, "plaza.sqlite.sock")
	if info, err := os.Stat(socket); err != nil || info.Mode() != fs.ModeSocket|0o600 {
		t.Fatalf("the socket: %v, %v", info, err)
	}
	const password = "analytical engine"
	signIn := func(with string) string {
		return field(anyone.Raw(t, fmt.Sprintf(`mutation { signIn(input: {handle: "ada", password: %q}) { token userErrors { code } } }`, with)), "token")
	}
	for _, c := range []struct {
		stdin string
		args  []string
		then  func()
	}{
		{"", []string{"user", "list"}, nil},
		{password + "\n", []string{"user", "add", "@Ada", "--name", "Ada Lovelace"}, func() {
			if signIn(password) == "" {
				t.Error("ada cannot sign in")
			}
		}},
		{"", []string{"user", "add", "bob"}, nil},
		{"short", []string{"user", "add", "bob"}, nil},
		{password, []string{"user", "add", "ada"}, nil},
		{"", []string{"user", "list", "--json"}, nil},
		{"", []string{"invitation", "list"}, nil},
		{"", []string{"invitation", "create", "--uses", "3"}, nil},
		{"", []string{"invitation", "create", "--uses", "0", "--days", "366"}, nil},
		{"", []string{"invitation", "list"}, nil},
		{"", []string{"invitation", "list", "--by", "@ada", "--json"}, nil},
		{"", []string{"invitation", "list", "--by", "unknown"}, nil},
		{"", []string{"invitation", "revoke", "invitation_00000000000000000000000001"}, nil},
		{"", []string{"invitation", "revoke", "1"}, nil},
		{"", []string{"grant", "admin", "ada"}, nil},
		{"", []string{"grant", "admin", "ada"}, nil},
		{"", []string{"grant", "root", "ada"}, nil},
		{"", []string{"rights"}, func() {
			ada := plazatest.Person{URL: anyone.URL, Token: signIn(password)}
			if rights := ada.Raw(t, `{ viewer { rights } }`); !strings.Contains(rights, `"ADMIN"`) {
				t.Errorf("the server says: %s", rights)
			}
		}},
		{"", []string{"revoke", "admin", "ada"}, nil},
		{"", []string{"export", "comments", "--user", "ada"}, nil},
		{"", []string{"user", "export", "unknown"}, nil},
		{"", []string{"delete", "user", "ada"}, nil},
		{"difference engine", []string{"user", "password", "ada"}, func() {
			ada := plazatest.Person{URL: anyone.URL, Token: signIn("difference engine")}
			open := ada.Connect(t)
			if out := do(t, shared, "", "user", "sign-out", "ada"); out.ExitCode != 0 {
				t.Errorf("%+v", out)
			}
			open.MustClose()
			if answer := ada.Raw(t, `{ viewer { id } }`); !strings.Contains(answer, "UNAUTHENTICATED") {
				t.Errorf("ada is still signed in: %s", answer)
			}
		}},
		{"", []string{"user", "sign-out", "unknown"}, nil},
		{"", []string{"user", "readmit", "https://site.example", "7"}, nil},
		{"", []string{"delete", "user", "ada", "--yes"}, nil},
		{"", []string{"user", "list"}, nil},
		{"", []string{"user", "add"}, nil},
	} {
		want, got := do(t, alone, c.stdin, c.args...), do(t, shared, c.stdin, c.args...)
		if diff := cmp.Diff(want, got); diff != "" || got.Stdout+got.Stderr == "" && c.args[0] != "export" && !slices.Contains(c.args, "--json") {
			t.Errorf("plaza %q (-without a server +with one):\n%s", c.args, diff)
		}
		if c.then != nil {
			c.then()
		}
	}
	if out := do(t, shared, "", "work", "status"); out.ExitCode != 1 || !strings.Contains(out.Stderr, "in use by another Plaza") {
		t.Errorf("a command that needs the file for itself: %+v", out)
	}
	server.Terminate(t)
	if _, err := os.Stat(socket); !os.IsNotExist(err) {
		t.Errorf("the socket is left: %v", err)
	}
	want := []string{"account created", "invitation created", "right granted", "right revoked", "password replaced", "everything revoked", "account deleted"}
	var got []string
	for _, r := range auditOf(t, server.Log.String()) {
		if r.By == "operator" {
			got = append(got, r.Act)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the audit log (-want +got):\n%s", diff)
	}
	if strings.Contains(server.Log.String(), password) {
		t.Error("a password is in the log")
	}
}

// TestSocketsOfKilledServers: a server replaces the socket that another one has left behind, and a
// command that meets a process without a socket says that the file is in use.
func TestSocketsOfKilledServers(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	killed := plazatest.StartProcess(t, "--data", data)
	killed.URL(t)
	if err := killed.Command.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = killed.Command.Wait() // it was killed
	if _, err := os.Stat(filepath.Join(data, "plaza.sqlite.sock")); err != nil {
		t.Fatalf("a killed server leaves no socket, so this test shows nothing: %v", err)
	}
	if out := do(t, data, "", "rights"); out.ExitCode != 0 {
		t.Errorf("a command after the kill: %+v", out)
	}
	st := openSQLite(t, data)
	if out := do(t, data, "", "rights"); out.ExitCode != 1 || !strings.Contains(out.Stderr, "in use by another Plaza") {
		t.Errorf("a command while another process has the file: %+v", out)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	next := plazatest.StartProcess(t, "--data", data)
	next.URL(t)
	if out := do(t, data, "", "rights"); out.ExitCode != 0 || !strings.Contains(out.Stdout, "No user has any rights") {
		t.Errorf("a command while the next server runs: %+v", out)
	}
}
