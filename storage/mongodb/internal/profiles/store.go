package profiles

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"plaza/social"
	"plaza/storage/mongodb/internal/eventlog"
	"plaza/storage/mongodb/internal/jobs"
	"plaza/storage/mongodb/internal/mdb"
)

// Config is what profiles need from the rest of the engine.
type Config struct {
	Database *mongo.Database
	DB       *mdb.DB
	Log      *eventlog.Log
	Jobs     *jobs.Queue
}

// Store implements social.Properties on a database.
type Store struct {
	db   *mdb.DB
	log  *eventlog.Log
	jobs *jobs.Queue

	profiles   *mongo.Collection
	properties *mongo.Collection
}

var _ social.Properties = (*Store)(nil)

// New returns the store for the profiles in a database.
func New(c Config) *Store {
	return &Store{
		db: c.DB, log: c.Log, jobs: c.Jobs,
		profiles: c.Database.Collection("profiles"), properties: c.Database.Collection("properties"),
	}
}

// byProperty is the index that queries name as a hint.
const byProperty = "properties"

// Indexes returns the declared indexes of each collection.
func (s *Store) Indexes() map[*mongo.Collection][]mongo.IndexModel {
	return map[*mongo.Collection][]mongo.IndexModel{
		s.profiles: {
			mdb.IndexHaving("properties", byProperty, mdb.Doc("properties.k", 1, "properties.a", 1, "properties.v", 1, "_id", 1)),
		},
		s.properties: {mdb.UniqueIndex("key", mdb.Doc("key", 1))},
	}
}

// ShardKeys returns the shard keys of the collections.
func ShardKeys() map[string]bson.D {
	return map[string]bson.D{
		"profiles":   nil, // a search reads them in the order of one index
		"properties": nil, // at most a hundred
	}
}

// Forget removes a user's profile.
func (s *Store) Forget(ctx context.Context, user social.UserID) error {
	_, err := s.profiles.DeleteOne(ctx, mdb.Doc("_id", user))
	return err
}
