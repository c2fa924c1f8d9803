package accounts

import "testing"

// TestSeenTokens: a token is new once while it is remembered, and the memory is bounded.
func TestSeenTokens(t *testing.T) {
	t.Parallel()
	var s seenTokens
	hash := func(n int) [32]byte { return [32]byte{byte(n), byte(n >> 8), 1} }
	for n := range 3 * maxSeen {
		if !s.add(hash(n)) || s.add(hash(n)) {
			t.Fatalf("token %d is not new once", n)
		}
		if oldest := hash(max(0, n-maxSeen+1)); !s.knows(oldest) {
			t.Fatalf("after token %d, that of %d before is forgotten", n, maxSeen)
		}
		if len(s.recent)+len(s.older) > 2*maxSeen {
			t.Fatal("the memory grows")
		}
	}
	if s.knows(hash(0)) {
		t.Error("the oldest token is not forgotten")
	}
}

func (s *seenTokens) knows(hash [32]byte) bool {
	_, recent := s.recent[hash]
	_, older := s.older[hash]
	return recent || older
}
