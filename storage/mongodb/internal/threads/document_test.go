package threads

import (
	"errors"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"plaza/storage/mongodb/internal/cluster"
	"plaza/storage/mongodb/internal/mdb"
	"plaza/storage/mongodb/internal/mdbtest"
)

// TestDocumentsReadThemselves checks that the hand-written decoding agrees with the struct tags.
func TestDocumentsReadThemselves(t *testing.T) {
	t.Parallel()
	for _, d := range []mdb.Document{&Document{}, &authorDoc{}} {
		mdbtest.ReadsItself(t, d, func(any) int { return mdb.FirstVersion })
	}
}

// TestEveryVersionIsRead reads documents of every version that was ever written.
func TestEveryVersionIsRead(t *testing.T) {
	t.Parallel()
	mdbtest.ReadsEveryVersion(t, map[string]func() any{
		"comments":       func() any { return &Document{} },
		"threads":        func() any { return &bucketDoc{} },
		"commentAuthors": func() any { return &authorDoc{} },
	})
}

// TestNewerDocumentsAreRefused reads a comment that a newer Plaza has written.
func TestNewerDocumentsAreRefused(t *testing.T) {
	t.Parallel()
	raw, err := bson.Marshal(mdb.Doc("v", mdb.FirstVersion+1))
	if err != nil {
		t.Fatal(err)
	}
	if err := mdbtest.Read(raw, &Document{}); !errors.Is(err, cluster.ErrTooNew) {
		t.Errorf("a newer document is read: %v", err)
	}
}
