package indexes

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// Definition is everything about an index except its name. Two indexes with equal definitions do
// the same.
type Definition struct {
	Keys, Only string // as JSON; Only is the partial filter
	Unique     bool
	Expires    int32 // in seconds; Never: documents do not expire
}

// Never is the expiry of an index that is not a TTL index.
const Never = -1

// storedIndex is an index as the database lists it.
type storedIndex struct {
	Name    string `bson:"name"`
	Keys    bson.D `bson:"key"`
	Only    bson.D `bson:"partialFilterExpression"`
	Unique  bool   `bson:"unique"`
	Expires *int32 `bson:"expireAfterSeconds"`
}

func (i *storedIndex) definition() (d Definition, err error) {
	return define(i.Keys, i.Only, i.Unique, i.Expires)
}

func define(keys, only any, unique bool, expires *int32) (d Definition, err error) {
	d = Definition{Unique: unique, Expires: Never}
	if expires != nil {
		d.Expires = *expires
	}
	d.Keys, err = inJSON(keys)
	if err == nil {
		d.Only, err = inJSON(only)
	}
	return d, err
}

// inJSON encodes a document in a form that does not depend on the types of integers.
func inJSON(document any) (string, error) {
	if d, ok := document.(bson.D); document == nil || ok && d == nil {
		return "", nil
	}
	text, err := bson.MarshalExtJSON(document, false, false)
	return string(text), err
}

// forDriver copies declared indexes, whose options the driver would change: collections that are
// prepared concurrently may share a declaration.
func forDriver(models ...mongo.IndexModel) []mongo.IndexModel {
	copies := slices.Clone(models)
	for i, model := range models {
		copies[i].Options = &options.IndexOptionsBuilder{Opts: slices.Clone(model.Options.List())}
	}
	return copies
}

// Declared returns the name and the definition of a declared index.
func Declared(model mongo.IndexModel) (name string, d Definition, err error) {
	var o options.IndexOptions
	for _, set := range model.Options.List() {
		if err := set(&o); err != nil {
			return "", d, err
		}
	}
	d, err = define(model.Keys, o.PartialFilterExpression, o.Unique != nil && *o.Unique, o.ExpireAfterSeconds)
	return *o.Name, d, err
}
