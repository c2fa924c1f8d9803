package mongodb_test

import (
	"testing"

	"plaza/storage"
	"plaza/storage/mongodb/mongotest"
	"plaza/storage/storagetest"
)

func TestContract(t *testing.T) {
	storagetest.Run(t, fresh)
}

// TestContractOnTwoServers runs what is about concurrency on two stores of one database, where locks in a process help nobody.
func TestContractOnTwoServers(t *testing.T) {
	storagetest.RunOnSeveral(t, func(t *testing.T) []storage.Store {
		t.Helper()
		uri, database := mongotest.Database(t)
		at := inDatabase(t, uri, database)
		return []storage.Store{openAt(t, at, nil), openAt(t, at, nil)}
	})
}

func TestModel(t *testing.T) {
	storagetest.RunModel(t, fresh)
}

func fresh(t *testing.T) storage.Store {
	t.Helper()
	return open(t, nil)
}
