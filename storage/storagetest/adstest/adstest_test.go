package adstest_test

import (
	"testing"

	"plaza/ads"
	"plaza/ads/adsmodel"
	"plaza/storage/storagetest/adstest"
)

// TestModel checks the suite and the model against each other.
func TestModel(t *testing.T) {
	adstest.Run(t, 100, func(*testing.T) ads.Store { return adsmodel.New() })
}
