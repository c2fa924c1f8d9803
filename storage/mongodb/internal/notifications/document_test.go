package notifications

import (
	"path/filepath"
	"testing"

	"plaza/storage/mongodb/internal/mdb"
	"plaza/storage/mongodb/internal/mdbtest"
)

// TestDocumentsReadThemselves checks that hand-written decoding agrees with the struct tags.
func TestDocumentsReadThemselves(t *testing.T) {
	t.Parallel()
	for _, d := range []mdb.Document{&document{}, &actDocument{}} {
		mdbtest.ReadsItself(t, d, func(any) int { return mdb.FirstVersion })
	}
}

// TestEveryVersionIsRead reads documents of every version that was ever written.
func TestEveryVersionIsRead(t *testing.T) {
	t.Parallel()
	for collection, newReader := range map[string]func() any{
		"notifications": func() any { return &document{} }, "notifier": func() any { return &notifierDocument{} },
	} {
		files, err := filepath.Glob(filepath.Join("..", "..", "testdata", "documents", collection+".*.bson"))
		if err != nil || len(files) == 0 {
			t.Errorf("%s: no samples are kept, %v", collection, err)
		}
		for _, path := range files {
			for _, raw := range mdbtest.Samples(t, path) {
				if err := mdbtest.Read(raw, newReader()); err != nil {
					t.Errorf("%s: %v in %v", path, err, raw)
				}
			}
		}
	}
}
