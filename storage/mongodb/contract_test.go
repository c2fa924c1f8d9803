package mongodb_test

import (
	"testing"

	"plaza/social"
	"plaza/storage/storagetest"
)

func TestContract(t *testing.T) {
	storagetest.Run(t, fresh)
}

func TestModel(t *testing.T) {
	storagetest.RunModel(t, fresh)
}

func fresh(t *testing.T) social.Store {
	t.Helper()
	return open(t, nil)
}
