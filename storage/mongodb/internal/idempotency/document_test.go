package idempotency

import (
	"path/filepath"
	"testing"

	"plaza/storage/mongodb/internal/mdbtest"
)

// TestEveryVersionIsRead reads documents of every version that was ever written.
func TestEveryVersionIsRead(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("..", "..", "testdata", "documents", collection+".*.bson"))
	if err != nil || len(files) == 0 {
		t.Errorf("no samples are kept, %v", err)
	}
	for _, path := range files {
		for _, raw := range mdbtest.Samples(t, path) {
			if err := mdbtest.Read(raw, &document{}); err != nil {
				t.Errorf("%s: %v in %v", path, err, raw)
			}
		}
	}
}
