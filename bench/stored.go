package bench

import (
	"context"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"plaza/bench/measure"
)

// eventLog is the collection that is the same in each layout.
const eventLog = "events"

// Stored measures all data in the rival's database except the event log. It makes mongod write
// everything to disk first.
func (r *Rival) Stored(ctx context.Context) (all measure.Stored, err error) {
	names, err := r.database.ListCollectionNames(ctx, bson.D{{Key: "type", Value: "collection"}})
	if err != nil {
		return all, err
	}
	return measure.StoredIn(ctx, r.database, slices.DeleteFunc(names, func(name string) bool { return name == eventLog })...)
}
