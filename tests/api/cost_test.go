package api

import (
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
