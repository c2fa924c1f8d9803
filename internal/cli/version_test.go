package cli

import (
	"runtime"
	"strings"
	"testing"

	"plaza/internal/plazatest"
)

// TestVersion: the output of --version must identify the program in a bug report. A test binary has
// no commit.
func TestVersion(t *testing.T) {
	t.Parallel()
	command, stdout, stderr := plazatest.Command(t.Context(), t.TempDir(), "--version")
	if err := command.Run(); err != nil {
		t.Fatalf("%v: %s", err, stderr)
	}
	want := "plaza " + version() + " (commit "
	if got := stdout.String(); !strings.HasPrefix(got, want) || !strings.HasSuffix(got, runtime.Version()+")\n") {
		t.Errorf("plaza --version wrote %q, want %q…", got, want)
	}
}
