package indexes

import (
	"context"
	"errors"
	"slices"

	"go.mongodb.org/mongo-driver/v2/mongo"

	"plaza/storage/mongodb/internal/mdb"
)

// difference is how the indexes of a collection differ from the declared ones.
type difference struct {
	missing []mongo.IndexModel
	changed []mongo.IndexModel // an index with this name has another definition
	expires []mongo.IndexModel // the same index has another expiry
}

func compare(ctx context.Context, c *mongo.Collection, models []mongo.IndexModel) (diff difference, err error) {
	stored, err := storedIn(ctx, c)
	for _, model := range models {
		name, want, fault := Declared(model)
		i := slices.IndexFunc(stored, func(s storedIndex) bool { return s.Name == name })
		if fault != nil || i < 0 {
			diff.missing, err = append(diff.missing, model), errors.Join(err, fault)
			continue
		}
		have, fault := stored[i].definition()
		err = errors.Join(err, fault)
		changing := want
		changing.Expires = have.Expires
		switch {
		case have == want:
		case have == changing && want.Expires != Never && have.Expires != Never:
			diff.expires = append(diff.expires, model)
		default:
			diff.changed = append(diff.changed, model)
		}
	}
	return diff, err
}

// storedIn returns the indexes of a collection: none if it is missing.
func storedIn(ctx context.Context, c *mongo.Collection) ([]storedIndex, error) {
	cursor, err := c.Indexes().List(ctx)
	if err != nil {
		return nil, err
	}
	const most = 64 // MongoDB's limit for a collection
	return mdb.ReadAll[storedIndex](ctx, cursor, most)
}

// ensure creates the collection and the indexes that are missing.
func ensure(ctx context.Context, c *mongo.Collection, models []mongo.IndexModel) (difference, error) {
	if len(models) == 0 {
		return difference{}, makeCollection(ctx, c)
	}
	diff, err := compare(ctx, c, models)
	if err == nil && len(diff.missing) == len(models) { // perhaps the collection is missing, too
		err = makeCollection(ctx, c)
	}
	if err == nil && len(diff.missing) > 0 {
		_, err = c.Indexes().CreateMany(ctx, forDriver(diff.missing...))
	}
	return diff, err
}
