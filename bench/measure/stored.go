package measure

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Stored is how many bytes something takes in a database.
type Stored struct {
	Data    int64 `bson:"size"`           // as documents
	Disk    int64 `bson:"storageSize"`    // as documents, compressed
	Indexes int64 `bson:"totalIndexSize"` // in indexes
}

// Minus returns the difference from another size.
func (s Stored) Minus(other Stored) Stored {
	return Stored{Data: s.Data - other.Data, Disk: s.Disk - other.Disk, Indexes: s.Indexes - other.Indexes}
}

// StoredIn measures some collections of a database. It makes mongod write everything to disk first.
func StoredIn(ctx context.Context, db *mongo.Database, collections ...string) (all Stored, err error) {
	if err := db.Client().Database("admin").RunCommand(ctx, bson.D{{Key: "fsync", Value: 1}}).Err(); err != nil {
		return all, err
	}
	for _, name := range collections {
		var one Stored
		if err := db.RunCommand(ctx, bson.D{{Key: "collStats", Value: name}}).Decode(&one); err != nil {
			return all, err
		}
		all.Data += one.Data
		all.Disk += one.Disk
		all.Indexes += one.Indexes
	}
	return all, nil
}
