package feeds

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"plaza/id"
	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
	"plaza/storage/mongodb/internal/mdbtest"
)

// TestDocumentsReadThemselves checks that the hand-written decoding agrees with the struct tags.
func TestDocumentsReadThemselves(t *testing.T) {
	t.Parallel()
	mdbtest.ReadsItself(t, &seqDoc{}, func(any) int { return mdb.FirstVersion })
}

// TestEveryVersionIsRead reads documents of every version that was ever written.
func TestEveryVersionIsRead(t *testing.T) {
	t.Parallel()
	mdbtest.ReadsEveryVersion(t, map[string]func() any{
		"newsCache":     func() any { return &cachedNews{} },
		"newsLists":     func() any { return &newsListDoc{} },
		"mergedAuthors": func() any { return &mergedAuthorDoc{} },
		"newsBuckets":   func() any { return &openPart{} },
		"monthNews":     func() any { return &openPart{} },
		"monthWalls":    func() any { return &openPart{} },
	})
}

// TestKeptDocumentsReadThemselves is TestDocumentsReadThemselves for documents with copies.
func TestKeptDocumentsReadThemselves(t *testing.T) {
	t.Parallel()
	raw := mdbtest.Encode(t, mdb.Doc("_id", 1, "changes", 3))
	closed := closedPart{
		ID: mdb.PairKey(id.New(), id.New()), Version: 1, User: social.UserID{ID: id.New()}, Gen: stamp{id.New()},
		Lower: social.PostID{ID: id.New()}, Upper: social.PostID{ID: id.New()}, Month: "2026-11",
		IDs: []social.PostID{{ID: id.New()}}, Posts: []postCopy{raw, raw},
	}
	open := openPart{
		User: closed.User, Version: 1, Gen: closed.Gen, IDs: closed.IDs, Posts: closed.Posts, Count: 2, Month: "2026-11",
		From: closed.Upper, Floor: closed.Lower, Parts: 7, Ready: true,
	}
	var readOpen openPart
	if err := mdb.ReadDocument(mdbtest.Encode(t, open), &readOpen); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(open, readOpen, cmpopts.IgnoreUnexported(openPart{})); diff != "" {
		t.Error(diff)
	}
	var readClosed closedPart
	if err := mdb.ReadDocument(mdbtest.Encode(t, closed), &readClosed); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(closed, readClosed); diff != "" {
		t.Error(diff)
	}
}
