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
	"plaza/storage/mongodb/internal/moderation"
	"plaza/storage/mongodb/internal/notifications"
	"plaza/storage/mongodb/internal/threads"
	"plaza/storage/mongodb/internal/users"
)

// Every document has a version, v. This file describes the versions of posts and of what belongs to
// them. version.go of the packages users, graph, adstore, moderation and notifications, and log.go of
// eventlog, describe the others. Readers accept all versions, and upgrade older ones (mdb.ReadDocument calls Evolve).
// MigrateDocuments upgrades the stored documents. Writers write the version that Store.writes
// returns: the newest one once the operator has finished the upgrade. All documents of a collection
// that none of these files names have version 1.
//
// An upgrade checks the fields, not only v: while servers of two versions run, the older one may
// change a document that has the newer version. An update that does not write all the fields that a
// version adds does not change v.
const (
	// posts and postVersions: version 2 puts a photo's url, width and height into one image, with
	// an alternative text. A check-in may have an image too. That needs no new version, because
	// servers that do not know it show the check-in without it. Versions 3 and 4 of posts shorten the
	// copies of comments. Updates may add short ones to posts of earlier versions.
	postContentVersion = 2
	postsVersion       = threads.ShorterCopies
	// reactions, votes and threadMutes: version 2 has the user, by which the deletion of an account
	// finds the marks.
	marksVersion = 2
)

// newestVersions are the newest versions that this package reads and writes, of collections that
// have had several.
func newestVersions() cluster.Versions {
	newest := cluster.Versions{
		"posts": postsVersion, "postVersions": postContentVersion,
		"reactions": marksVersion, "votes": marksVersion, "threadMutes": marksVersion,
	}
	maps.Copy(newest, eventlog.Versions())
	maps.Copy(newest, users.Versions())
	maps.Copy(newest, graph.Versions())
	maps.Copy(newest, adstore.Versions())
	maps.Copy(newest, moderation.Versions())
	maps.Copy(newest, notifications.Versions())
	return newest
}

// previousVersions are the versions that the previous release wrote. This one writes them until the
// upgrade is finished. A change that raises a version adds the one before it here; each release
// empties the list.
func previousVersions() cluster.Versions {
	previous := newestVersions()
	maps.Copy(previous, cluster.Versions{"posts": 2, "edges": mdb.FirstVersion, "changes": mdb.FirstVersion, "adConversions": mdb.FirstVersion, "adCampaigns": mdb.FirstVersion, "adUnits": mdb.FirstVersion, "adZones": mdb.FirstVersion, "adTallies": mdb.FirstVersion, "adLedgers": mdb.FirstVersion, "cases": mdb.FirstVersion, "notifications": mdb.FirstVersion})
	return previous
}

// thisEdition is what this version of Plaza can do with documents.
func thisEdition() cluster.Edition {
	return cluster.Edition{Newest: newestVersions(), Previous: previousVersions()}
}

// readable are the newest versions that this package can read.
var readable = newestVersions()

// known returns an error for a document of a version that this Plaza does not know.
func known(collection string, version int) error {
	return readable.Known(collection, version)
}

// upgrades holds the function for each collection that makes the update to a newer version.
var upgrades = func() map[string]mdb.Upgrade {
	all := map[string]mdb.Upgrade{
		"posts": func(raw bson.Raw, to int) (*mongo.UpdateOneModel, error) {
			var d postDoc
			if err := mdb.ReadDocument(raw, &d); err != nil {
				return nil, err
			}
			return mdb.UpgradeTo(raw, mdb.Doc("v", to, "detail", d.Detail, "latest", threads.CopiesOf(d.Latest, to)), "revision", "threadRevision"), nil
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
	maps.Copy(all, moderation.Upgrades())
	maps.Copy(all, notifications.Upgrades())
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
