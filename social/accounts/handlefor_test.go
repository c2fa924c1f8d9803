package accounts

import (
	"slices"
	"strings"
	"testing"

	"plaza/social"
)

// TestHandlesFor: whatever people are called elsewhere, their handles are valid, free to use, and
// as close as they can be.
func TestHandlesFor(t *testing.T) {
	t.Parallel()
	key := social.KeyOfIdentity("https://site.example", "1")
	for called, first := range map[string]string{
		"ada":                      "ada",
		"Ada Lovelace":             "ada_lovelace",
		"ada.lovelace@example.org": "ada_lovelace",
		"  --ada__love--  ":        "ada_love",
		"Zoë Ångström":             "zoe_angstrom",
		"ﬁnn":                      "finn",
		strings.Repeat("ab", 40):   strings.Repeat("ab", 15),
		strings.Repeat("a-", 40):   strings.Repeat("a_", 14) + "a",
		"admin":                    "admin_",
		"ADM1N":                    "adm1n_",
		"":                         "member_",
		"@example.org":             "member_",
		"李小龍":                      "member_",
		"\xff\xfe":                 "member_",
	} {
		handles := handlesFor(called, key)
		if len(handles) < 7 || !strings.HasPrefix(handles[0], first) || !strings.HasSuffix(first, "_") && handles[0] != first {
			t.Errorf("of %q: %q, want %q first", called, handles, first)
		}
		for i, handle := range handles {
			if normal, ok := social.NormalHandle(handle); !ok || normal != handle || checkReserved(handle) != nil || slices.Contains(handles[:i], handle) {
				t.Errorf("of %q: %q", called, handle)
			}
		}
	}
	if other := handlesFor("ada", social.KeyOfIdentity("https://site.example", "2")); other[1] == handlesFor("ada", key)[1] {
		t.Errorf("two people get the same numbers: %q", other)
	}
}

// TestHandlesCannotAllBeTaken before someone signs in for the first time: some change each time.
func TestHandlesCannotAllBeTaken(t *testing.T) {
	t.Parallel()
	key := social.KeyOfIdentity("https://site.example", "1")
	taken := handlesFor("ada", key)
	var free []string
	for _, handle := range handlesFor("ada", key) {
		if !slices.Contains(taken, handle) {
			free = append(free, handle)
		}
	}
	if len(free) < 3 || len(free) > 4 {
		t.Errorf("of %q, %q are free", taken, free)
	}
}

// TestIdentitiesDiffer: an issuer and a subject do not run into each other.
