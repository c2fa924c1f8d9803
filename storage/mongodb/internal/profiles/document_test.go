package profiles

import (
	"testing"

	"plaza/storage/mongodb/internal/cluster"
	"plaza/storage/mongodb/internal/mdbtest"
)

// TestEveryVersionIsRead reads documents of every version that was ever written.
func TestEveryVersionIsRead(t *testing.T) {
	t.Parallel()
	mdbtest.ReadsEveryVersion(t, map[string]func() any{
		"profiles": func() any { return &profileDoc{} }, "properties": func() any { return &propertyDoc{} },
	})
}

// TestNewerDocumentsAreRefused reads a profile that a newer Plaza has written.
func TestNewerDocumentsAreRefused(t *testing.T) {
	t.Parallel()
	mdbtest.RefusesNewer(t, &profileDoc{}, cluster.ErrTooNew)
}
