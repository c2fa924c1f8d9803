package eventlog

import (
	"testing"

	"plaza/storage/mongodb/internal/mdbtest"
)

// TestEveryVersionIsRead reads documents of every version that was ever written.
func TestEveryVersionIsRead(t *testing.T) {
	t.Parallel()
	mdbtest.ReadsEveryVersion(t, map[string]func() any{
		"events": func() any { return &eventDoc{} }, "changes": func() any { return &changeDoc{} },
	})
}
