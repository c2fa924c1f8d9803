package mdb

import (
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Upgrade makes the update that brings a document to a version. The update changes nothing if the
// fields that it was computed from have changed.
type Upgrade func(raw bson.Raw, to int) (*mongo.UpdateOneModel, error)

// UpgradeTo makes an update that sets fields of a document, including its version. The update
// changes nothing if the version or one of the fields in unchanged differs by then.
func UpgradeTo(raw bson.Raw, set bson.D, unchanged ...string) *mongo.UpdateOneModel {
	filter := Doc("_id", raw.Lookup("_id"), "v", raw.Lookup("v"))
	for _, field := range unchanged {
		filter = append(filter, stillEqual(raw, field))
	}
	return mongo.NewUpdateOneModel().SetFilter(filter).SetUpdate(Doc("$set", set))
}

// stillEqual matches documents that have a field as it is in raw, or lack it like raw.
func stillEqual(raw bson.Raw, field string) bson.E {
	value, err := raw.LookupErr(field)
	if err != nil {
		return bson.E{Key: field, Value: nil}
	}
	return bson.E{Key: field, Value: value}
}

// UpgradeVersion is an [Upgrade] that changes only the version.
func UpgradeVersion(raw bson.Raw, to int) (*mongo.UpdateOneModel, error) {
	return UpgradeTo(raw, Doc("v", to)), nil
}
