package adstore

import (
	"slices"
	"sync"

	"plaza/ads"
)

// reservations are those that wait for a transaction. Those that wait at the same time share one,
// because each must be on the disk before it is answered.
type reservations struct {
	turn chan struct{} // held by the waiting call that makes the transaction

	mu      sync.Mutex
	waiting []*reservation
}

type reservation struct {
	ads.Reservation

	done   chan struct{} // closed once the rest is known
	chosen []int
	err    error
}

func newReservations() *reservations { return &reservations{turn: make(chan struct{}, 1)} }

func (q *reservations) add(r *reservation) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = append(q.waiting, r)
}

func (q *reservations) take() []*reservation {
	q.mu.Lock()
	defer q.mu.Unlock()
	all := q.waiting
	q.waiting = nil
	return all
}

// remove cancels a reservation that still waits.
func (q *reservations) remove(r *reservation) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if at := slices.Index(q.waiting, r); at >= 0 {
		q.waiting = slices.Delete(q.waiting, at, at+1)
	}
}
