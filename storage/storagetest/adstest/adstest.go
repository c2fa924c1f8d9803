// Package adstest is the suite that every storage engine must pass for ads, with a case for each
// obligation of ads.Store.
package adstest

import (
	"slices"
	"testing"

	"plaza/ads"
)

// Open opens a new, empty store, and registers its cleanup with t.
type Open = func(t *testing.T) ads.Store

// Run runs the suite. Each case gets a new store from open; all cases run in parallel. Cases that
// play random histories play this many.
func Run(t *testing.T, histories int, open Open) {
	t.Helper()
	runNouns(t, histories, open, nouns())
}

// RunOnSeveral does the same for the nouns with concurrent cases. open opens a store that passes its
// calls to several servers.
func RunOnSeveral(t *testing.T, histories int, open Open) {
	t.Helper()
	runNouns(t, histories, open, slices.DeleteFunc(nouns(), func(n noun) bool { return n.sequential }))
}

// noun is the part of the contract about one noun.
type noun struct {
	name       string
	cases      []testCase
	sequential bool // no case is about concurrency
}

func nouns() []noun {
	return []noun{
		{name: "Catalogue", cases: catalogueCases},
		{name: "Campaigns", cases: campaignCases},
		{name: "Zones", cases: zoneCases, sequential: true},
		{name: "Revisions", cases: revisionCases},
		{name: "Lists", cases: listCases, sequential: true},
		{name: "Budgets", cases: budgetCases},
		{name: "Spending", cases: spendingCases, sequential: true},
		{name: "Profiles", cases: profileCases},
		{name: "Serving", cases: servingCases},
		{name: "Refunds", cases: refundCases},
		{name: "Reports", cases: reportCases, sequential: true},
		{name: "Traffic", cases: trafficCases},
		{name: "Recorder", cases: recorderCases},
		{name: "Conversions", cases: conversionCases},
		{name: "Actions", cases: actionCases, sequential: true},
		{name: "Keys", cases: keyCases},
	}
}

func runNouns(t *testing.T, histories int, open Open, nouns []noun) {
	t.Helper()
	for _, noun := range nouns {
		t.Run(noun.name, func(t *testing.T) {
			t.Parallel()
			for _, c := range noun.cases {
				t.Run(c.name, func(t *testing.T) {
					t.Parallel()
					c.run(newWorld(t, histories, open))
				})
			}
		})
	}
}

// testCase checks one obligation, on its own store.
type testCase struct {
	name string
	run  func(w *world)
}
