package moderation

import (
	"testing"

	"plaza/storage/mongodb/internal/audience"
	"plaza/storage/mongodb/internal/mdb"
	"plaza/storage/mongodb/internal/mdbtest"
)

// TestDocumentsReadThemselves checks that hand-written decoding agrees with the struct tags.
func TestDocumentsReadThemselves(t *testing.T) {
	t.Parallel()
	newest := func(d any) int {
		if _, isCase := d.(*caseDoc); isCase {
			return version
		}
		return mdb.FirstVersion
	}
	for _, d := range []mdb.Document{&caseDoc{}, &audience.Document{}, &reportDoc{}, &decisionDoc{}} {
		mdbtest.ReadsItself(t, d, newest)
	}
}

// TestEveryVersionIsRead reads documents of every version that was ever written.
func TestEveryVersionIsRead(t *testing.T) {
	t.Parallel()
	mdbtest.ReadsEveryVersion(t, map[string]func() any{
		casesName: func() any { return &caseDoc{} }, reportsName: func() any { return &reportDoc{} },
		decisionsName: func() any { return &decisionDoc{} },
	})
}
