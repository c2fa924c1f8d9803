package cli

import (
	"strings"
	"testing"

	"plaza/internal/plazatest"
)

// TestStartFailures starts plaza with configurations that cannot work. Each ends with a sentence
// that explains what to do, and exit code 1.
func TestStartFailures(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"a URI of something else":  {[]string{"--mongodb-uri", "http://localhost"}, "should look like mongodb://"},
		"an address that is taken": {[]string{"--addr", plazatest.TakenAddress(t)}, "cannot listen on"},
		"a file as the folder":     {[]string{"--data", "/dev/null"}, "/dev/null"},
		"an unknown flag":          {[]string{"--nonsense"}, "unknown flag"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			command, _, stderr := plazatest.Command(t.Context(), t.TempDir(), c.args...)
			err := command.Run()
			if err == nil || command.ProcessState.ExitCode() == 0 || command.ProcessState.ExitCode() > 80 {
				t.Errorf("exit code %d: %v", command.ProcessState.ExitCode(), err)
			}
			if !strings.Contains(stderr.String(), c.want) || strings.Contains(stderr.String(), "goroutine") {
				t.Errorf("want %q in: %s", c.want, stderr)
			}
		})
	}
}
