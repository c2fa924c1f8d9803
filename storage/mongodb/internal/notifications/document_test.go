package notifications

import (
	"testing"

	"plaza/storage/mongodb/internal/mdb"
	"plaza/storage/mongodb/internal/mdbtest"
)

// TestDocumentsReadThemselves checks that hand-written decoding agrees with the struct tags.
func TestDocumentsReadThemselves(t *testing.T) {
	t.Parallel()
	newest := func(d any) int {
		if _, isNotification := d.(*document); isNotification {
			return version
		}
		return mdb.FirstVersion
	}
	for _, d := range []mdb.Document{&document{}, &actDocument{}, &lossDocument{}} {
		mdbtest.ReadsItself(t, d, newest)
	}
}

// TestEveryVersionIsRead reads documents of every version that was ever written.
func TestEveryVersionIsRead(t *testing.T) {
	t.Parallel()
	mdbtest.ReadsEveryVersion(t, map[string]func() any{
		notificationsName: func() any { return &document{} }, "notifier": func() any { return &notifierDocument{} },
		"notificationLosses":   func() any { return &lossDocument{} },
		"notificationSettings": func() any { return &settingsDocument{} },
	})
}
