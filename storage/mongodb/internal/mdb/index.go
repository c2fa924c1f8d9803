package mdb

import (
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// Index returns an index with a name, which queries use as a hint.
func Index(name string, keys bson.D) mongo.IndexModel {
	return mongo.IndexModel{Keys: keys, Options: options.Index().SetName(name)}
}

// UniqueIndex returns an index that rejects a second document with the same keys.
func UniqueIndex(name string, keys bson.D) mongo.IndexModel {
	return mongo.IndexModel{Keys: keys, Options: options.Index().SetName(name).SetUnique(true)}
}

// IndexHaving returns an index of only the documents that have the field.
func IndexHaving(field, name string, keys bson.D) mongo.IndexModel {
	only := Doc(field, Doc("$exists", true))
	return mongo.IndexModel{Keys: keys, Options: options.Index().SetName(name).SetPartialFilterExpression(only)}
}

// IndexLacking returns an index of only the documents that lack the field. A query uses it if it
// compares the field with null.
func IndexLacking(field, name string, keys bson.D) mongo.IndexModel {
	return mongo.IndexModel{Keys: keys, Options: options.Index().SetName(name).SetPartialFilterExpression(Doc(field, nil))}
}

// ExpiringIndex returns a TTL index: it removes documents some time after the time in the field.
func ExpiringIndex(field string, after time.Duration) mongo.IndexModel {
	return mongo.IndexModel{
		Keys:    Doc(field, 1),
		Options: options.Index().SetName(field).SetExpireAfterSeconds(int32(after / time.Second)),
	}
}
