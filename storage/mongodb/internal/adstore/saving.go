package adstore

import (
	"context"
	"slices"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/ads"
	"plaza/storage/mongodb/internal/mdb"
)

// saving is one run of Save's transaction. Zones have copies of what is saved, so it collects the
// copies to rebuild.
type saving struct {
	*Store
	campaigns map[ads.CampaignID]bool // those that have changed, or whose advertiser has
	units     map[ads.UnitID]*unitDoc // saved, or of such campaigns; in their new state
	zones     map[string]int          // those that have, had or get one of the units, with the change in their number of placed units
}

// insertNew stores the entries of revision 0 that do not exist.
func insertNew[T any, K comparable, D any](ctx context.Context, c *mongo.Collection, entries []T, key func(*T) K, revision func(*T) int, document func(*T) D) (added []T, err error) {
	fresh := slices.DeleteFunc(slices.Clone(entries), func(e T) bool { return revision(&e) != 0 })
	added, err = notStored(ctx, c, fresh, key)
	if err != nil || len(added) == 0 {
		return nil, err
	}
	_, err = c.InsertMany(ctx, mdb.Map(added, document), options.InsertMany().SetOrdered(false))
	return added, mdb.OrRetry(err) // if another transaction was first, this one runs again
}

// notStored returns the entries whose keys are not in the collection, without repeated keys.
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

// replace changes a document that still has the given revision. Error: ErrConflict.
func replace(ctx context.Context, c *mongo.Collection, key any, revision int, set any) error {
	result, err := c.UpdateOne(ctx, mdb.Doc("_id", key, "revision", revision), mdb.Doc("$set", set, "$inc", mdb.Doc("revision", 1)))
	if err == nil && result.MatchedCount == 0 {
		return ads.ErrConflict
	}
	return err
}
