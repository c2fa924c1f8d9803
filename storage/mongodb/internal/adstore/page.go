package adstore

import (
	"context"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/ads"
	"plaza/storage/mongodb/internal/mdb"
)

// readPage reads a page of the matching documents, ordered by _id.
func readPage[D any, K any](ctx context.Context, c *mongo.Collection, filter bson.D, hint string, p ads.Page, key func(string) K) ([]D, error) {
	bounds := bson.D{}
	if p.After != "" {
		bounds = append(bounds, bson.E{Key: "$gt", Value: key(string(p.After))})
	}
	if p.Before != "" {
		bounds = append(bounds, bson.E{Key: "$lt", Value: key(string(p.Before))})
	}
	if len(bounds) > 0 {
		filter = append(filter, bson.E{Key: "_id", Value: bounds})
	}
	order := 1
	if p.Last {
		order = -1
	}
	find := options.Find().SetSort(mdb.Doc("_id", order)).SetLimit(int64(p.Limit)).SetHint(hint)
	if hint == "_id_" {
		find.SetProjection(mdb.Doc("units", 0))
	}
	found, err := mdb.FindAll[D](ctx, c, filter, p.Limit, find)
	if p.Last {
		slices.Reverse(found)
	}
	return found, err
}

func idKey(key string) bson.Binary {
	return bson.Binary{Subtype: bson.TypeBinaryUUID, Data: []byte(key)}
}

func textKey(key string) string { return key }

// distinct returns the keys of all entries, without repeats.
func distinct[T any, K comparable](entries []T, keys func(*T) []K) []K {
	var all []K
	seen := map[K]bool{}
	for i := range entries {
		for _, key := range keys(&entries[i]) {
			if !seen[key] {
				seen[key] = true
				all = append(all, key)
			}
		}
	}
	return all
}
