package adstore

import (
	"plaza/ads"
	"plaza/storage/sqlite/internal/sqldb"
)

// Store implements ads.Store on a file.
type Store struct {
	db           *sqldb.DB
	reservations *reservations
}

var _ ads.Store = (*Store)(nil)

// New returns the store for the ads in a file.
func New(db *sqldb.DB) *Store { return &Store{db: db, reservations: newReservations()} }
