package cluster

import (
	"errors"
	"fmt"

	"plaza/storage/mongodb/internal/mdb"
)

// Versions are versions of documents, by collection. A collection that is missing has version 1.
type Versions map[string]int

// Of returns the version of a collection's documents, which is 1 if none is recorded.
func (v Versions) Of(collection string) int { return max(v[collection], mdb.FirstVersion) }

// Reach reports whether v is at least as new as other for every collection.
func (v Versions) Reach(other Versions) bool {
	for collection := range other {
		if v.Of(collection) < other.Of(collection) {
			return false
		}
	}
	return true
}

// ErrTooNew means that a newer Plaza has written a document. This one would lose the new fields if
// it changed the document.
var ErrTooNew = errors.New("was written by a newer Plaza: run that one, or a newer one")

// Edition describes which versions of documents one version of Plaza reads and writes.
type Edition struct {
	// Newest are the newest versions that it reads, and that it writes once the upgrade is
	// finished.
	Newest Versions
	// Previous are the versions that the previous release wrote. This one writes them until the
	// upgrade is finished, so that the operator can go back to that release.
	Previous Versions
}

// Known returns ErrTooNew if a document of the collection has a newer version than v.
func (v Versions) Known(collection string, version int) error {
	if newest := v.Of(collection); version > newest {
		return fmt.Errorf("a document of %s of version %d (this Plaza knows %d) %w", collection, version, newest, ErrTooNew)
	}
	return nil
}
