package storagetest

import (
	"time"

	"plaza/storage"
)

// Timed is a store that has a time of its own.
type Timed struct {
	storage.Store
	At time.Time
}

// Now implements storage.Clock.
func (s Timed) Now() time.Time { return s.At }
