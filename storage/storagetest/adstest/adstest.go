// Package adstest is what every storage engine must pass for ads: a case for each obligation of ads.Store.
package adstest

import (
	"testing"

	"plaza/ads"
)

// Open opens a fresh, empty store, and registers with t what closes and removes it.
type Open = func(t *testing.T) ads.Store

// Run runs the suite. Each case gets a fresh store from open; all cases of all nouns run in parallel.
func Run(t *testing.T, open Open) {
	t.Helper()
	for _, noun := range []struct {
		name  string
		cases []testCase
	}{
		{"Catalogue", catalogueCases},
		{"Campaigns", campaignCases},
		{"Zones", zoneCases},
		{"Revisions", revisionCases},
		{"Lists", listCases},
		{"Budgets", budgetCases},
		{"Spending", spendingCases},
		{"Profiles", profileCases},
		{"Serving", servingCases},
		{"Refunds", refundCases},
		{"Reports", reportCases},
		{"Traffic", trafficCases},
		{"Recorder", recorderCases},
		{"Conversions", conversionCases},
		{"Actions", actionCases},
		{"Keys", keyCases},
	} {
		t.Run(noun.name, func(t *testing.T) {
			t.Parallel()
			for _, c := range noun.cases {
				t.Run(c.name, func(t *testing.T) {
					t.Parallel()
					c.run(newWorld(t, open))
				})
			}
		})
	}
}

// testCase is one obligation, on a store of its own.
type testCase struct {
	name string
	run  func(w *world)
}
