package mdb

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// Existing returns which of the ids are in the collection.
func Existing[K comparable](ctx context.Context, c *mongo.Collection, ids []K) (map[K]bool, error) {
	type idDoc struct {
		ID K `bson:"_id"`
	}
	docs, err := FindIn[idDoc](ctx, c, "_id", ids, options.Find().SetProjection(Doc("_id", 1)))
	known := make(map[K]bool, len(ids))
	for _, d := range docs {
		known[d.ID] = true
	}
	return known, err
}
