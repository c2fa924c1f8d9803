package accounts

import "sync"

// maxSeen is how many tokens of other sites are remembered at least, 32 bytes each.
const maxSeen = 4096

// seenTokens remembers by their hashes which tokens of other sites have come recently: a token's
// first request is recorded as a sign-in. It forgets the oldest. It is safe for concurrent use.
type seenTokens struct {
	mu            sync.Mutex
	recent, older map[[32]byte]struct{} // at most maxSeen each
}

// add reports whether a token is new.
func (s *seenTokens) add(hash [32]byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, known := s.recent[hash]; known {
		return false
	}
	_, known := s.older[hash]
	if s.recent == nil || len(s.recent) >= maxSeen {
		s.older, s.recent = s.recent, map[[32]byte]struct{}{}
	}
	s.recent[hash] = struct{}{}
	return !known
}
