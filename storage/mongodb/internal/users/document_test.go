package users

import (
	"testing"

	"plaza/social"
	"plaza/storage/mongodb/internal/cluster"
	"plaza/storage/mongodb/internal/mdb"
	"plaza/storage/mongodb/internal/mdbtest"
)

// TestDocumentsReadThemselves checks that hand-written decoding agrees with the struct tags.
func TestDocumentsReadThemselves(t *testing.T) {
	t.Parallel()
	for _, d := range []mdb.Document{&Document{}, &standingDoc{}, &sessionDoc{}, &grantDoc{}, &identityDoc{}} {
		mdbtest.ReadsItself(t, d, newestOf)
	}
}

// newestOf returns the version that is written of a document.
func newestOf(d any) int {
	if _, ok := d.(*Document); ok {
		return version
	}
	return mdb.FirstVersion
}

// TestEveryVersionIsRead reads documents of every version that was ever written.
func TestEveryVersionIsRead(t *testing.T) {
	t.Parallel()
	mdbtest.ReadsEveryVersion(t, map[string]func() any{
		"users": func() any { return &Document{} }, "handles": func() any { return &handleDoc{} }, "sessions": func() any { return &sessionDoc{} },
		"identities": func() any { return &identityDoc{} }, "leftHandles": func() any { return &leftHandleDoc{} }, "emails": func() any { return &emailDoc{} },
		"mailTokens": func() any { return &mailTokenDoc{} }, "mails": func() any { return &mailDoc{} },
		"invitations": func() any { return &invitationDoc{} }, "inviters": func() any { return &inviterDoc{} },
	})
}

// TestOldDocumentsMeanTheSame: a user of version 1 is in the order of names.
func TestOldDocumentsMeanTheSame(t *testing.T) {
	t.Parallel()
	for _, raw := range mdbtest.Samples(t, "../../testdata/documents/users.v1.bson") {
		var old Document
		if err := mdb.ReadDocument(raw, &old); err != nil || old.NameOrder != social.NameOrder(old.Name, old.ID) {
			t.Errorf("a user of version 1 is read as %+v, %v", old, err)
		}
	}
}

// TestNewerDocumentsAreRefused reads a user that a newer Plaza has written.
func TestNewerDocumentsAreRefused(t *testing.T) {
	t.Parallel()
	mdbtest.RefusesNewer(t, &Document{}, cluster.ErrTooNew)
}
