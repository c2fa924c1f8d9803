package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plaza/internal/plazatest"
	"plaza/storage/sqlite/sqlitetest"
)

// TestServersWarnOfSettings starts a server as a process.
func TestServersWarnOfSettings(t *testing.T) {
	t.Parallel()
	command, _, stderr := plazatest.Command(t.Context(), t.TempDir(), "serve", "--addr", plazatest.TakenAddress(t), "--feeds", "month")
	_ = command.Run()
	if n := strings.Count(stderr.String(), `"level":"WARN","msg":"some settings have no effect","settings":"--feeds (for MongoDB)"`); n != 1 {
		t.Errorf("the server warns %d times, and says %s", n, stderr)
	}
}

// TestUnknownLayoutsAreRefused checks that an unknown layout is refused before anything is created,
// also with the embedded database, which has only one.
func TestUnknownLayoutsAreRefused(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"serve", "--addr", "127.0.0.1:0"}, {"rights"}} {
		command, _, stderr := plazatest.Command(t.Context(), t.TempDir(), args...)
		command.Env = append(command.Env, "PLAZA_FEEDS=foo")
		_ = command.Run()
		want := "plaza: there is no layout \"foo\" of feeds: choose bucket, cache, hybrid, month or read\n"
		if code := command.ProcessState.ExitCode(); code != 1 || stderr.String() != want {
			t.Errorf("plaza %q: exit code %d, says %q, want %q", args, code, stderr, want)
		}
	}
}

// TestUsageMistakes checks that a usage error names the mistake and how to get help, without
// printing the help itself.
func TestUsageMistakes(t *testing.T) {
	t.Parallel()
	for args, help := range map[string]string{
		"ads import nofile.yaml":                "plaza ads import --help",
		"migrate comments --to pages --rate -1": "plaza migrate comments --help",
		"serve --news-ads foo":                  "plaza serve --help",
		"nonsense":                              "plaza --help",
		"work":                                  "plaza work --help",
	} {
		command, stdout, stderr := plazatest.Command(t.Context(), t.TempDir(), strings.Fields(args)...)
		_ = command.Run()
		said := strings.SplitAfter(stderr.String(), "\n")
		if code := command.ProcessState.ExitCode(); code != 80 || stdout.Len() > 0 || len(said) != 3 ||
			!strings.HasPrefix(said[0], "plaza: ") || said[1] != "Run "+help+" for usage.\n" {
			t.Errorf("plaza %s: exit code %d, says %q and %q, want %q", args, code, stdout, stderr, help)
		}
	}
}

// TestMessagesNameWhatWasUsed: the flag, the user, the kind of file.
func TestMessagesNameWhatWasUsed(t *testing.T) {
	t.Parallel()
	path := sqlitetest.NewFile(t)
	data := filepath.Dir(path)
	file := filepath.Join(data, "list.yaml")
	if err := os.WriteFile(file, []byte("- a\n- b\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(want string, args ...string) {
		t.Helper()
		command, stdout, stderr := plazatest.Command(t.Context(), data, args...)
		command.Stdin = strings.NewReader("analytical engine\n")
		_ = command.Run()
		if said := stdout.String() + stderr.String(); !strings.Contains(said, want) {
			t.Errorf("plaza %q says %q, want %q", args, said, want)
		}
	}
	run("ada now has an account", "user", "add", "ada")
	run("plaza: --for: ", "user", "suspend", "ada", "--for=-1h", "--reason", "Why?")
	run("plaza: --until: ", "user", "suspend", "ada", "--until=2001-01-01T00:00:00Z", "--reason", "Why?")
	run(`plaza: --for: "3d" is not a duration, such as 72h, 90m or 30s`, "user", "suspend", "ada", "--for=3d", "--reason", "Why?")
	run(`plaza: --until: "tomorrow" is not a time, such as 2030-01-31T12:00:00Z`, "user", "suspend", "ada", "--until=tomorrow", "--reason", "Why?")
	run(`plaza: --drain-delay: "5" is not a duration`, "serve", "--drain-delay=5")
	run("neither can be empty", "user", "readmit", "", "")
	run("ada has no invitations", "invitation", "list", "--by", "ada")
	run("This is not a file of ads", "ads", "import", file)
}
