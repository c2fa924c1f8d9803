package api

import (
	"strings"
	"testing"

	"plaza/internal/plazatest"
)

// TestPageOfCirclesIsWithinTheCostLimit requests, in full pages, the data of a page that manages
// circles. Deeper lists of that size are refused.
func TestPageOfCirclesIsWithinTheCostLimit(t *testing.T) {
	t.Parallel()
	ada := plazatest.Start(t, plazatest.Engines[0]).As(t, "ada")
	const circles = `{ viewer { circles(first: 100) { nodes { id name members(first: 100) { nodes { id handle name avatarUrl } } } } } }`
	if got := verdictOf(t, ada, circles, nil, ""); got.code != "" {
		t.Errorf("circles with members: %s", got.raw)
	}
	const deep = `{ viewer { circles(first: 100) { nodes { members(first: 100) { nodes { followers(first: 100) { nodes { id } } } } } } } }`
	if got := verdictOf(t, ada, deep, nil, ""); got.code != "QUERY_TOO_COMPLEX" {
		t.Errorf("their members' followers: %s", got.raw)
	}
}

// TestSuggestionsCostWhatTheyRead: however few suggestions a client requests, all of them are looked
// for, so the rate limits count that.
func TestSuggestionsCostWhatTheyRead(t *testing.T) {
	t.Parallel()
	ada := plazatest.Start(t, plazatest.Engines[0]).As(t, "ada")
	for query, want := range map[string]string{
		`{ viewer { suggestedUsers(count: 1) { user { id } } } }`:                                                                          `"requestedQueryCost":54,`,
		`{ viewer { ...a b: suggestedUsers(count: 2) { __typename } } } fragment a on Viewer { suggestedUsers(count: 1) { user { id } } }`: `"requestedQueryCost":107,`,
	} {
		if got := verdictOf(t, ada, query, nil, ""); got.code != "" || !strings.Contains(got.raw, want) {
			t.Errorf("%s: %s, want %s", query, got.raw, want)
		}
	}
}
