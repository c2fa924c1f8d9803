package mongodb

import (
	"maps"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"plaza/storage/mongodb/internal/adstore"
	"plaza/storage/mongodb/internal/cluster"
	"plaza/storage/mongodb/internal/eventlog"
	"plaza/storage/mongodb/internal/graph"
	"plaza/storage/mongodb/internal/mdb"
	"plaza/storage/mongodb/internal/users"
)

// Every document has a version, v. This file says what changed from each version to the next of
// posts and what hangs on them, and the version.go of other packages what changed of theirs: users,
// graph, adstore (and log.go of eventlog). Readers take all versions, and upgrade what is older
// (Evolve, which mdb.ReadDocument calls); MigrateDocuments upgrades the stored ones. Writers write
// the version that Store.writes says: the newest, once the operator has finished the upgrade. A
// collection that is not named in any of them has only ever had version 1.
//
// An upgrade looks at the fields and not only at v: a server of an older version may change a
// document of a newer one while both run. What does not write everything that a version adds leaves
// v as it is.
const (
	// posts and postVersions: in version 2 a photo's url, width and height are one image, with an
	// alternative text. A check-in may have an image, too: that is no version, because servers that
	// do not know it show the check-in without it.
	postsVersion = 2
	// reactions, votes and threadMutes: version 2 has the user; marks are found by it when the
	// account is deleted.
	marksVersion = 2
)

// newestVersions are the newest versions that this package reads and writes, of collections that
// have had several.
func newestVersions() cluster.Versions {
	newest := cluster.Versions{
		"posts": postsVersion, "postVersions": postsVersion,
		"reactions": marksVersion, "votes": marksVersion, "threadMutes": marksVersion,
	}
	maps.Copy(newest, eventlog.Versions())
	maps.Copy(newest, users.Versions())
	maps.Copy(newest, graph.Versions())
	maps.Copy(newest, adstore.Versions())
	return newest
}

// previousVersions are those that the release before wrote, and that this one writes until the
// upgrade is finished. A step since then is named here with the version before it; when a release
// is made, the list is emptied.
func previousVersions() cluster.Versions {
	previous := newestVersions()
	maps.Copy(previous, cluster.Versions{"edges": mdb.FirstVersion, "changes": mdb.FirstVersion, "adConversions": mdb.FirstVersion, "adCampaigns": mdb.FirstVersion, "adUnits": mdb.FirstVersion, "adZones": mdb.FirstVersion, "adTallies": mdb.FirstVersion, "adLedgers": mdb.FirstVersion})
	return previous
}

// thisEdition is what this version of Plaza can do with documents.
func thisEdition() cluster.Edition {
	return cluster.Edition{Newest: newestVersions(), Previous: previousVersions()}
}

// readable are the versions that are read.
var readable = newestVersions()

// known refuses a document of a version that this Plaza does not know.
func known(collection string, version int) error {
	return readable.Known(collection, version)
}

// upgrades make the updates that bring documents to a version.
var upgrades = func() map[string]mdb.Upgrade {
	all := map[string]mdb.Upgrade{
		"posts": func(raw bson.Raw, to int) (*mongo.UpdateOneModel, error) {
			var d postDoc
			if err := mdb.ReadDocument(raw, &d); err != nil {
				return nil, err
			}
			return mdb.UpgradeTo(raw, mdb.Doc("v", to, "detail", d.Detail), "revision"), nil
		},
		"postVersions": func(raw bson.Raw, to int) (*mongo.UpdateOneModel, error) {
			var d versionDoc
			if err := mdb.ReadDocument(raw, &d); err != nil {
				return nil, err
			}
			return mdb.UpgradeTo(raw, mdb.Doc("v", to, "detail", d.Detail)), nil
		},
		"reactions": upgradeMark, "votes": upgradeMark, "threadMutes": upgradeMark,
	}
	maps.Copy(all, users.Upgrades())
	maps.Copy(all, graph.Upgrades())
	for collection := range adstore.Versions() {
		all[collection] = mdb.UpgradeVersion
	}
	return all
}()

func upgradeMark(raw bson.Raw, to int) (*mongo.UpdateOneModel, error) {
	var d markDoc
	if err := mdb.ReadDocument(raw, &d); err != nil {
		return nil, err
	}
	return mdb.UpgradeTo(raw, mdb.Doc("v", to, "user", d.User)), nil
}
