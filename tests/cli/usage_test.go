package cli

import (
	"strings"
	"testing"

	"plaza/internal/plazatest"
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
		want := "plaza: there is no layout \"foo\" of feeds: choose bucket or cache or hybrid or month or read\n"
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
