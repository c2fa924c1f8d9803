package idempotency

import (
	"testing"

	"plaza/storage/mongodb/internal/mdbtest"
)

// TestEveryVersionIsRead reads documents of every version that was ever written.
func TestEveryVersionIsRead(t *testing.T) {
	t.Parallel()
	mdbtest.ReadsEveryVersion(t, map[string]func() any{collection: func() any { return &document{} }})
}
