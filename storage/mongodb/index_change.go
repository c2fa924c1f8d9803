package mongodb

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/storage/mongodb/internal/mdb"
)

// definition is what makes an index what it is, apart from its name: two indexes with equal definitions are the same.
type definition struct {
	keys, only string // as JSON; only is the partial filter
	unique     bool
	expires    int32 // in seconds; never: it removes nothing
}

const never = -1

// storedIndex is an index as the database lists it.
type storedIndex struct {
	Name    string `bson:"name"`
	Keys    bson.D `bson:"key"`
	Only    bson.D `bson:"partialFilterExpression"`
	Unique  bool   `bson:"unique"`
	Expires *int32 `bson:"expireAfterSeconds"`
}

func (i *storedIndex) definition() (d definition, err error) {
	return define(i.Keys, i.Only, i.Unique, i.Expires)
}

func define(keys, only any, unique bool, expires *int32) (d definition, err error) {
	d = definition{unique: unique, expires: never}
	if expires != nil {
		d.expires = *expires
	}
	d.keys, err = inJSON(keys)
	if err == nil {
		d.only, err = inJSON(only)
	}
	return d, err
}

// inJSON writes a document in a form in which all integers are alike.
func inJSON(document any) (string, error) {
	if d, ok := document.(bson.D); document == nil || ok && d == nil {
		return "", nil
	}
	text, err := bson.MarshalExtJSON(document, false, false)
	return string(text), err
}

// declared is the name and the definition of an index that this Plaza wants.
func declared(model mongo.IndexModel) (name string, d definition, err error) {
	var o options.IndexOptions
	for _, set := range model.Options.List() {
		if err := set(&o); err != nil {
			return "", d, err
		}
	}
	d, err = define(model.Keys, o.PartialFilterExpression, o.Unique != nil && *o.Unique, o.ExpireAfterSeconds)
	return *o.Name, d, err
}

// indexDifference is what a collection lacks of its declared indexes.
type indexDifference struct {
	missing []mongo.IndexModel
	changed []mongo.IndexModel // there is another index with this name
	expires []mongo.IndexModel // there is the same index with another time of expiry
}

func compareIndexes(ctx context.Context, c *mongo.Collection, models []mongo.IndexModel) (diff indexDifference, err error) {
	cursor, err := c.Indexes().List(ctx)
	if err != nil {
		return diff, err
	}
	stored, err := mdb.ReadAll[storedIndex](ctx, cursor, len(models)+1)
	for _, model := range models {
		name, want, fault := declared(model)
		i := slices.IndexFunc(stored, func(s storedIndex) bool { return s.Name == name })
		if fault != nil || i < 0 {
			diff.missing, err = append(diff.missing, model), errors.Join(err, fault)
			continue
		}
		have, fault := stored[i].definition()
		err = errors.Join(err, fault)
		changing := want
		changing.expires = have.expires
		switch {
		case have == want:
		case have == changing && want.expires != never && have.expires != never:
			diff.expires = append(diff.expires, model)
		default:
			diff.changed = append(diff.changed, model)
		}
	}
	return diff, err
}

// ensure makes the collection and those of the indexes that are missing.
func ensure(ctx context.Context, c *mongo.Collection, models []mongo.IndexModel) (indexDifference, error) {
	if len(models) == 0 {
		return indexDifference{}, makeCollection(ctx, c)
	}
	diff, err := compareIndexes(ctx, c, models)
	if err == nil && len(diff.missing) > 0 {
		_, err = c.Indexes().CreateMany(ctx, diff.missing)
	}
	return diff, err
}

func makeCollection(ctx context.Context, c *mongo.Collection) error {
	const namespaceExists = 48
	err := c.Database().CreateCollection(ctx, c.Name())
	if server := mongo.ServerError(nil); mdb.AsServerError(err, &server) && server.HasErrorCode(namespaceExists) {
		return nil
	}
	return err
}

// ensureMine is ensure for a collection that no server uses yet.
func ensureMine(ctx context.Context, c *mongo.Collection, models []mongo.IndexModel) error {
	_, err := ensure(ctx, c, models)
	return mdb.Translate(ctx, "indexes of "+c.Name(), err)
}

// bringUpToDate is ensure for a collection that servers use. An index that a Plaza under development has made under the same name, with
// another definition, is replaced, by one server at a time. (Released definitions never change: see indexes.) While it is built,
// calls that need it are answered with ErrUnavailable.
func (s *Store) bringUpToDate(ctx context.Context, c *mongo.Collection, models []mongo.IndexModel) error {
	diff, err := ensure(ctx, c, models)
	for _, model := range diff.expires {
		if err == nil && c != s.events { // KeepEvents says how long those are kept
			err = s.setExpiry(ctx, c, model)
		}
	}
	if err == nil && len(diff.changed) > 0 {
		err = s.replaceIndexes(ctx, c, models)
	}
	return err
}

// prepareIndexes is bringUpToDate for the collections of a layout.
func (s *Store) prepareIndexes(ctx context.Context, indexes map[*mongo.Collection][]mongo.IndexModel) error {
	for c, models := range indexes {
		if err := s.bringUpToDate(ctx, c, models); err != nil {
			return mdb.Translate(ctx, "indexes of "+c.Name(), err)
		}
	}
	return nil
}

// setExpiry changes when a collection's documents expire.
func (s *Store) setExpiry(ctx context.Context, c *mongo.Collection, model mongo.IndexModel) error {
	name, want, err := declared(model)
	if err != nil {
		return err
	}
	return c.Database().RunCommand(ctx, mdb.Doc("collMod", c.Name(), "index", mdb.Doc("name", name, "expireAfterSeconds", want.expires))).Err()
}

const indexSetting = "indexes" // the document of settings whose driver replaces indexes

func (s *Store) replaceIndexes(ctx context.Context, c *mongo.Collection, models []mongo.IndexModel) (err error) {
	name := fmt.Sprintf("%s.%s", indexSetting, c.Name())
	for {
		holder, err := s.member.TakeTurn(ctx, name, nil)
		if err != nil {
			return err
		}
		if holder == nil {
			break
		}
		if err := s.member.Pause(ctx); err != nil {
			return err
		}
	}
	defer func() { err = errors.Join(err, s.member.EndTurn(ctx, name)) }()
	diff, err := compareIndexes(ctx, c, models) // another server may have done it
	for _, model := range diff.changed {
		if err == nil {
			err = s.replaceIndex(ctx, c, model)
		}
	}
	return err
}

func (s *Store) replaceIndex(ctx context.Context, c *mongo.Collection, model mongo.IndexModel) error {
	name, _, err := declared(model)
	if err != nil {
		return err
	}
	s.logger.WarnContext(ctx, "an index has another definition and is replaced", "collection", c.Name(), "index", name)
	if err := c.Indexes().DropOne(ctx, name); err != nil {
		return err
	}
	_, err = c.Indexes().CreateOne(ctx, model)
	return err
}
