package notifications

import (
	"plaza/storage/mongodb/internal/cluster"
	"plaza/storage/mongodb/internal/mdb"
)

const (
	notificationsName = "notifications"
	// version is the version of notifications. Since version 2, one person may have several acts in a
	// notification, each about another comment. Older servers would show and count this person
	// several times.
	version = 2
)

// Versions returns the newest versions that this package reads and writes, for the collections that
// have had several.
func Versions() cluster.Versions { return cluster.Versions{notificationsName: version} }

// readable are the newest versions that this package can read.
var readable = Versions()

// Upgrades returns the functions that make the updates to newer versions, by collection.
func Upgrades() map[string]mdb.Upgrade {
	return map[string]mdb.Upgrade{notificationsName: mdb.UpgradeVersion}
}
