package notifications

import (
	"testing"

	"plaza/storage/mongodb/internal/mdb"
	"plaza/storage/mongodb/internal/mdbtest"
)

// TestDocumentsReadThemselves checks that hand-written decoding agrees with the struct tags.
func TestDocumentsReadThemselves(t *testing.T) {
	t.Parallel()
	for _, d := range []mdb.Document{&document{}, &actDocument{}, &lossDocument{}} {
		mdbtest.ReadsItself(t, d, func(any) int { return mdb.FirstVersion })
	}
}

// TestEveryVersionIsRead reads documents of every version that was ever written.
func TestEveryVersionIsRead(t *testing.T) {
	t.Parallel()
	mdbtest.ReadsEveryVersion(t, map[string]func() any{
		"notifications": func() any { return &document{} }, "notifier": func() any { return &notifierDocument{} },
		"notificationLosses":   func() any { return &lossDocument{} },
		"notificationSettings": func() any { return &settingsDocument{} },
	})
}
