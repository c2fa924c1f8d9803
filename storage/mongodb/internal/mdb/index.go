package mdb

import (
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// Index is an index with a name, by which queries ask for it.
func Index(name string, keys bson.D) mongo.IndexModel {
	return mongo.IndexModel{Keys: keys, Options: options.Index().SetName(name)}
}

// UniqueIndex is an index that refuses a second document with the same keys.
func UniqueIndex(name string, keys bson.D) mongo.IndexModel {
	return mongo.IndexModel{Keys: keys, Options: options.Index().SetName(name).SetUnique(true)}
}

// IndexHaving is an index over those documents alone that have the field.
func IndexHaving(field, name string, keys bson.D) mongo.IndexModel {
	only := Doc(field, Doc("$exists", true))
	return mongo.IndexModel{Keys: keys, Options: options.Index().SetName(name).SetPartialFilterExpression(only)}
}

// ExpiringIndex removes documents some time after the moment that the field names.
func ExpiringIndex(field string, after time.Duration) mongo.IndexModel {
	return mongo.IndexModel{
		Keys:    Doc(field, 1),
		Options: options.Index().SetName(field).SetExpireAfterSeconds(int32(after / time.Second)),
	}
}
