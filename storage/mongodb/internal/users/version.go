package users

import (
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"plaza/storage/mongodb/internal/cluster"
	"plaza/storage/mongodb/internal/mdb"
)

// version is that of users. Version 2 has nameOrder, by which people are found.
const version = 2

// Versions are the newest versions of documents that this package reads and writes, of collections
// that have had several.
func Versions() cluster.Versions { return cluster.Versions{"users": version} }

// Upgrades make the updates that bring documents to a version.
func Upgrades() map[string]mdb.Upgrade {
	return map[string]mdb.Upgrade{"users": func(raw bson.Raw, to int) (*mongo.UpdateOneModel, error) {
		var d Document
		if err := mdb.ReadDocument(raw, &d); err != nil {
			return nil, err
		}
		return mdb.UpgradeTo(raw, mdb.Doc("v", to, "nameOrder", d.NameOrder), "name"), nil
	}}
}
