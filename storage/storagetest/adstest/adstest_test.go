package adstest_test

import (
	"testing"

	"plaza/ads"
	"plaza/ads/adsmodel"
	"plaza/storage/storagetest/adstest"
)

// TestModel holds the suite against the model, and the model against the suite.
func TestModel(t *testing.T) {
	adstest.Run(t, func(*testing.T) ads.Store { return adsmodel.New() })
}
