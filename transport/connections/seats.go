package connections

import "sync"

// seat is what a connection takes from one limit.
type seat struct{ limit, of string }

// seats counts the connections that are open.
type seats struct {
	limits  map[string]int
	refused func(limit string)

	mu    sync.Mutex
	taken map[seat]int
}

func newSeats(limits Limits, refused func(limit string)) *seats {
	return &seats{limits: limits.ByName(), refused: refused, taken: map[seat]int{}}
}

// take returns false if the limit is reached.
func (s *seats) take(wanted seat) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if limit := s.limits[wanted.limit]; limit > 0 && s.taken[wanted] >= limit {
		s.refused(wanted.limit)
		return false
	}
	s.taken[wanted]++
	return true
}

func (s *seats) leave(taken ...seat) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, seat := range taken {
		if s.taken[seat]--; s.taken[seat] == 0 {
			delete(s.taken, seat)
		}
	}
}

// free reports whether no seat is taken.
func (s *seats) free() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.taken) == 0
}
