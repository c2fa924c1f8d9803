package main

import "testing"

// TestAManagerOfCirclesIsAnswered asks for what a page that manages circles shows, in full pages; deeper lists of that size are refused.
func TestAManagerOfCirclesIsAnswered(t *testing.T) {
	ada := startPlaza(t, engines[0]).as(t, "ada")
	const circles = `{ viewer { circles(first: 100) { nodes { id name members(first: 100) { nodes { id handle name avatarUrl } } } } } }`
	if got := ada.verdict(t, circles, nil, ""); got.code != "" {
		t.Errorf("circles with members: %s", got.raw)
	}
	const deep = `{ viewer { circles(first: 100) { nodes { members(first: 100) { nodes { followers(first: 100) { nodes { id } } } } } } } }`
	if got := ada.verdict(t, deep, nil, ""); got.code != "QUERY_TOO_COMPLEX" {
		t.Errorf("their members' followers: %s", got.raw)
	}
}
