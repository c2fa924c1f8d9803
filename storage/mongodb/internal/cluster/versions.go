package cluster

import (
	"errors"
	"fmt"

	"plaza/storage/mongodb/internal/mdb"
)

// Versions are versions of documents, by collection. A collection that is not named has version 1.
type Versions map[string]int

// Of returns the version of a collection's documents; the first one where none is recorded.
func (v Versions) Of(collection string) int { return max(v[collection], mdb.FirstVersion) }

// Reach says whether v is at least as new as other, in every collection.
func (v Versions) Reach(other Versions) bool {
	for collection := range other {
		if v.Of(collection) < other.Of(collection) {
			return false
		}
	}
	return true
}

// ErrTooNew says that a newer Plaza has written a document: to read it without what is new would
// lose that.
var ErrTooNew = errors.New("was written by a newer Plaza: run that one, or a newer one")

// Edition is what one version of Plaza can do with documents.
type Edition struct {
	// Newest are the versions that it reads, and writes once the upgrade is finished.
	Newest Versions
	// Previous are those that the release before wrote. It writes them until the upgrade is
	// finished, so that the operator can go back to that release.
	Previous Versions
}

// Known is ErrTooNew for a document of a collection whose version is newer than these.
func (v Versions) Known(collection string, version int) error {
	if newest := v.Of(collection); version > newest {
		return fmt.Errorf("a document of %s of version %d (this Plaza knows %d) %w", collection, version, newest, ErrTooNew)
	}
	return nil
}
