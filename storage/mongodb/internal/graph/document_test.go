package graph

import (
	"testing"

	"plaza/storage/mongodb/internal/cluster"
	"plaza/storage/mongodb/internal/mdb"
	"plaza/storage/mongodb/internal/mdbtest"
)

// TestDocumentsReadThemselves checks that hand-written decoding agrees with the struct tags.
func TestDocumentsReadThemselves(t *testing.T) {
	t.Parallel()
	for _, d := range []mdb.Document{&Document{}, &circleDoc{}, &otherDoc{}} {
		mdbtest.ReadsItself(t, d, func(any) int { return mdb.FirstVersion })
	}
}

// TestEveryVersionIsRead reads documents of every version that was ever written.
func TestEveryVersionIsRead(t *testing.T) {
	t.Parallel()
	mdbtest.ReadsEveryVersion(t, map[string]func() any{
		"circles": func() any { return &circleDoc{} }, "edges": func() any { return &Document{} }, "followers": func() any { return &Document{} },
	})
}

// TestNewerDocumentsAreRefused: an edge and a circle that a newer Plaza has written.
func TestNewerDocumentsAreRefused(t *testing.T) {
	t.Parallel()
	for _, d := range []mdb.Evolving{&Document{}, &circleDoc{}} {
		mdbtest.RefusesNewer(t, d, cluster.ErrTooNew)
	}
}
