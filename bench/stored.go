package bench

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"

	"plaza/bench/measure"
)

// eventLog is the collection that is the same in each layout.
const eventLog = "events"

// Stored measures all data in the rival's database except the event log. It makes mongod write
// everything to disk first.
func (r *Rival) Stored(ctx context.Context) (all measure.Stored, err error) {
	if err := r.database.Client().Database("admin").RunCommand(ctx, bson.D{{Key: "fsync", Value: 1}}).Err(); err != nil {
		return all, err
	}
	names, err := r.database.ListCollectionNames(ctx, bson.D{{Key: "type", Value: "collection"}})
	if err != nil {
		return all, err
	}
	for _, name := range names {
		if name == eventLog {
			continue
		}
		var one measure.Stored
		if err := r.database.RunCommand(ctx, bson.D{{Key: "collStats", Value: name}}).Decode(&one); err != nil {
			return all, err
		}
		all.Data += one.Data
		all.Disk += one.Disk
		all.Indexes += one.Indexes
	}
	return all, nil
}
