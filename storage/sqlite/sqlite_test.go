package sqlite_test

import (
	"testing"

	"plaza/ads"
	"plaza/storage"
	"plaza/storage/sqlite"
	"plaza/storage/sqlite/sqlitetest"
	"plaza/storage/storagetest"
	"plaza/storage/storagetest/adstest"
)

func TestContract(t *testing.T) { storagetest.Run(t, open) }

// TestContractFromMemory runs the parts about people and sessions with a cache of them.
func TestContractFromMemory(t *testing.T) {
	storagetest.RunSome(t, func(t *testing.T) storage.Store {
		t.Helper()
		return storagetest.Remembering(open(t))
	}, "Users", "Sessions", "Circles", "Graph", "Importer", "Deletion", "Concurrency")
}

func TestModel(t *testing.T) { storagetest.RunModel(t, open, 60) }

func TestAds(t *testing.T) {
	adstest.Run(t, 60, func(t *testing.T) ads.Store {
		t.Helper()
		return open(t).Ads()
	})
}

func open(t *testing.T) storage.Store {
	t.Helper()
	store, err := sqlite.Open(t.Context(), sqlitetest.NewFile(t))
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

// TestFreshness: servers that cache people miss no write. Here they share a file.
func TestFreshness(t *testing.T) {
	storagetest.RunFreshness(t, func(t *testing.T) []storage.Store {
		t.Helper()
		store := open(t)
		return []storage.Store{store, store}
	})
}
