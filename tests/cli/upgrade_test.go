package cli

import (
	"path/filepath"
	"strings"
	"testing"

	"plaza/internal/plazatest"
	"plaza/storage/sqlite"
	"plaza/storage/sqlite/sqlitetest"
)

// TestCommandsSayThatTheyUpgrade lets a command that only reads open a file with earlier tables.
func TestCommandsSayThatTheyUpgrade(t *testing.T) {
	t.Parallel()
	path := sqlitetest.NewFile(t)
	if err := sqlite.GoBack(t.Context(), path, 20); err != nil {
		t.Fatal(err)
	}
	for _, want := range []int{1, 0} {
		command, _, stderr := plazatest.Command(t.Context(), filepath.Dir(path), "user", "list")
		if err := command.Run(); err != nil {
			t.Errorf("%v: %s", err, stderr)
		}
		if n := strings.Count(stderr.String(), "plaza: upgraded the tables of "+path+" from version 20 to "); n != want || strings.Count(stderr.String(), "\n") != want {
			t.Errorf("the command says %q, want %d reports", stderr, want)
		}
	}
}
