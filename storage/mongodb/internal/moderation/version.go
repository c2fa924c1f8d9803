package moderation

import (
	"plaza/storage/mongodb/internal/cluster"
	"plaza/storage/mongodb/internal/mdb"
)

// version is the version of cases. Since version 2, a case on a comment can be decided by hiding it.
// Comments then have a field that older servers do not know: these would show the comment.
const version = 2

// Versions returns the newest versions that this package reads and writes, for the collections that
// have had several.
func Versions() cluster.Versions { return cluster.Versions{casesName: version} }

// readable are the newest versions that this package can read.
var readable = Versions()

// Upgrades returns the functions that make the updates to newer versions, by collection.
func Upgrades() map[string]mdb.Upgrade {
	return map[string]mdb.Upgrade{casesName: mdb.UpgradeVersion}
}
