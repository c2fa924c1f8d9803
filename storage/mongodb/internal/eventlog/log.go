package eventlog

import (
	"log/slog"
	"sync/atomic"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"plaza/social"
	"plaza/storage/mongodb/internal/cluster"
	"plaza/storage/mongodb/internal/indexes"
	"plaza/storage/mongodb/internal/mdb"
)

// Config is what the logs need from the rest of the engine.
type Config struct {
	Database *mongo.Database
	DB       *mdb.DB
	Writes   func(collection string) int // the version in which documents are written now
	Indexes  *indexes.Builder
	Logger   *slog.Logger
}

// Log is the log of events and the log of changes.
type Log struct {
	db      *mdb.DB
	writes  func(collection string) int
	indexes *indexes.Builder
	logger  *slog.Logger

	events       *mongo.Collection
	changes      *mongo.Collection
	acknowledged *mongo.Collection // changes, for DB.ReadAcknowledged
	lastSlot     atomic.Uint64     // of changes
}

var (
	_ social.EventLog  = (*Log)(nil)
	_ social.ChangeLog = (*Log)(nil)
)

// Events is the name of the collection of events. KeepEvents sets when they expire.
const Events = "events"

// New returns the logs of a database.
func New(c Config) *Log {
	return &Log{
		db: c.DB, writes: c.Writes, indexes: c.Indexes, logger: c.Logger,
		events: c.Database.Collection(Events), changes: c.Database.Collection("changes"),
		acknowledged: mdb.Acknowledged(c.Database, "changes"),
	}
}

// Indexes returns the declared indexes of each collection.
func (l *Log) Indexes() map[*mongo.Collection][]mongo.IndexModel {
	return map[*mongo.Collection][]mongo.IndexModel{
		l.events:  {mdb.ExpiringIndex("at", social.DefaultEventRetention)},
		l.changes: nil, // _id is the slot
	}
}

// ShardKeys returns the shard keys of the collections.
func ShardKeys() map[string]bson.D {
	return map[string]bson.D{
		Events:    mdb.Doc("_id", "hashed"),
		"changes": nil, // sixteen documents
	}
}

// Since changesVersion 2, all servers add their changes. While version 1 is written, older servers
// that add nothing may run, so the log is incomplete.
const changesVersion = 2

// Versions returns the newest versions that this package reads and writes, for the collections that
// have had several.
func Versions() cluster.Versions { return cluster.Versions{"changes": changesVersion} }
