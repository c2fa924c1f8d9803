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

// Log is the log of events, and that of changes.
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

// Events is the name of the collection of events. KeepEvents says when these expire.
const Events = "events"

// New returns the logs of a database.
func New(c Config) *Log {
	return &Log{
		db: c.DB, writes: c.Writes, indexes: c.Indexes, logger: c.Logger,
		events: c.Database.Collection(Events), changes: c.Database.Collection("changes"),
		acknowledged: mdb.Acknowledged(c.Database, "changes"),
	}
}

// Indexes are the declared indexes of each collection.
func (l *Log) Indexes() map[*mongo.Collection][]mongo.IndexModel {
	return map[*mongo.Collection][]mongo.IndexModel{
		l.events:  {mdb.ExpiringIndex("at", social.DefaultEventRetention)},
		l.changes: nil, // _id is the slot
	}
}

// ShardKeys are the shard keys of the collections, as those of the other packages.
func ShardKeys() map[string]bson.D {
	return map[string]bson.D{
		Events:    mdb.Doc("_id", "hashed"),
		"changes": nil, // sixteen documents
	}
}

// changesVersion: from version 2 on, all servers add what they change. While version 1 is written,
// servers that add nothing may run, so what is there is not complete.
const changesVersion = 2

// Versions are the newest versions of documents that this package reads and writes, of collections
// that have had several.
func Versions() cluster.Versions { return cluster.Versions{"changes": changesVersion} }
