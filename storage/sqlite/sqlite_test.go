package sqlite_test

import (
	"path/filepath"
	"testing"

	"plaza/storage"
	"plaza/storage/sqlite"
	"plaza/storage/storagetest"
)

func TestContract(t *testing.T) { storagetest.Run(t, open) }

func TestModel(t *testing.T) { storagetest.RunModel(t, open, 100) }

func open(t *testing.T) storage.Store {
	t.Helper()
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "plaza.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return store
}
