package adstore

import (
	"context"
	"slices"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/ads"
	"plaza/storage/mongodb/internal/mdb"
)

// saving is one run of Save's transaction. Zones have copies of what is saved: it knows which of them to make anew.
type saving struct {
	*Store
	campaigns map[ads.CampaignID]bool // which, or whose advertiser, has changed
	units     map[ads.UnitID]*unitDoc // saved or of such campaigns, as they are now
	zones     map[string]int          // that have, had or get one of the units; how many units more are placed there
}

// insertNew stores those entries of revision 0 that do not exist.
func insertNew[T any, K comparable, D any](ctx context.Context, c *mongo.Collection, entries []T, key func(*T) K, revision func(*T) int, document func(*T) D) (added []T, err error) {
	fresh := slices.DeleteFunc(slices.Clone(entries), func(e T) bool { return revision(&e) != 0 })
	added, err = notStored(ctx, c, fresh, key)
	if err != nil || len(added) == 0 {
		return nil, err
	}
	_, err = c.InsertMany(ctx, mdb.Map(added, document), options.InsertMany().SetOrdered(false))
	return added, mdb.OrRetry(err) // where another transaction was first, this one runs again
}

// notStored are the entries whose key is not in the collection, the first of each key.
func notStored[T any, K comparable](ctx context.Context, c *mongo.Collection, entries []T, key func(*T) K) ([]T, error) {
	known, err := mdb.Existing(ctx, c, mdb.Map(entries, key))
	if err != nil {
		return nil, err
	}
	var fresh []T
	for i := range entries {
		if k := key(&entries[i]); !known[k] {
			known[k] = true
			fresh = append(fresh, entries[i])
		}
	}
	return fresh, nil
}

// replace changes a document that has this revision. Error: ErrConflict.
func replace(ctx context.Context, c *mongo.Collection, key any, revision int, set any) error {
	result, err := c.UpdateOne(ctx, mdb.Doc("_id", key, "revision", revision), mdb.Doc("$set", set, "$inc", mdb.Doc("revision", 1)))
	if err == nil && result.MatchedCount == 0 {
		return ads.ErrConflict
	}
	return err
}
