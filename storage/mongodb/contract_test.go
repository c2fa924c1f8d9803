package mongodb_test

import (
	"testing"

	"plaza/social"
	"plaza/storage/storagetest"
)

func TestContract(t *testing.T) {
	storagetest.Run(t, func(t *testing.T) social.Store { return open(t, nil) })
}
