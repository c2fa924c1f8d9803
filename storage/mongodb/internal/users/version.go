package users

import (
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"plaza/storage/mongodb/internal/cluster"
	"plaza/storage/mongodb/internal/mdb"
)

// version is the version of users. Version 2 has nameOrder, which the search by name uses.
const version = 2

// Versions returns the newest versions that this package reads and writes, for the collections that
// have had several.
func Versions() cluster.Versions { return cluster.Versions{"users": version} }

// readable are the newest versions that this package can read.
var readable = Versions()

// Upgrades returns the functions that make the updates to newer versions, by collection.
func Upgrades() map[string]mdb.Upgrade {
	return map[string]mdb.Upgrade{"users": func(raw bson.Raw, to int) (*mongo.UpdateOneModel, error) {
		var d Document
		if err := mdb.ReadDocument(raw, &d); err != nil {
			return nil, err
		}
		return mdb.UpgradeTo(raw, mdb.Doc("v", to, "nameOrder", d.NameOrder), "name"), nil
	}}
}
