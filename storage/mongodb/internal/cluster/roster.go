package cluster

import (
	"context"
	"fmt"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/storage/mongodb/internal/mdb"
	"plaza/storage/mongodb/internal/wait"
)

// Server is a document of servers: one open Store. It is there from before the Store reads its
// settings until after its last write; who goes on without the Store must be sure that it is gone
// (migration.agree).
type Server struct {
	ID      string         `bson:"_id"`
	Version int            `bson:"v"`
	Process string         `bson:"process"` // for people: host and process id
	App     string         `bson:"app"`     // what its connections are called; "" before Plaza told them apart
	User    string         `bson:"user"`    // the MongoDB user; "" without access control
	Adopted map[string]int `bson:"adopted"` // by setting: the oldest generation that calls still work by
	Knows   Versions       `bson:"knows"`   // the newest versions of documents that it reads; none before servers told
	Writes  Versions       `bson:"writes"`  // the oldest versions in which calls still write documents
	Lease   int64          `bson:"lease"`   // in ms: how long after At it may still do something
	At      time.Time      `bson:"at"`      // the last heartbeat, by the database's clock
	Silence int64          `bson:"silence"` // in ms: the time since then; only when it is read
}

// Describe is for people.
func (d *Server) Describe() string {
	if d.Silence < d.Lease {
		return d.Process
	}
	return fmt.Sprintf("%s, silent for %d s", d.Process, d.Silence/1000)
}

// Silent is how long the server has not been heard, once that are several heartbeats; or 0.
func (d *Server) Silent() time.Duration {
	if d.Silence < d.Lease/4 {
		return 0
	}
	return time.Duration(d.Silence) * time.Millisecond
}

// roster is the servers of a database, as one of them sees them, and what they have recorded for
// each other.
type roster struct {
	client           *mongo.Client
	DB               *mdb.DB
	collection       *mongo.Collection // of servers
	settings         *mongo.Collection
	names            []string // of the settings
	Edition          Edition
	ID, process      string
	user             string // the MongoDB user of this server; "" without access control
	Heartbeat, lease time.Duration
	timeout          time.Duration
	transactionLife  time.Duration // the database's transactionLifetimeLimitSeconds
	Routed           bool          // through a mongos, to shards
	changed          chan struct{} // asks for a heartbeat at once
}

// silentLife is how long a server is known that died: far longer than anything that it has begun
// can last.
const silentLife = 24 * time.Hour

// Indexes are the declared indexes of the servers' collection.
func (r *roster) Indexes() map[*mongo.Collection][]mongo.IndexModel {
	return map[*mongo.Collection][]mongo.IndexModel{r.collection: {mdb.ExpiringIndex("at", silentLife)}}
}

// Pause is the time between two looks at the servers.
func (r *roster) Pause(ctx context.Context) error {
	wait.For(ctx, r.Heartbeat/4, nil)
	return ctx.Err()
}

// Servers reads all servers.
func (r *roster) Servers(ctx context.Context) (all []Server, err error) {
	err = r.DB.Read(ctx, "servers", func(ctx context.Context) error {
		cursor, err := r.collection.Aggregate(ctx, bson.A{
			mdb.Doc("$match", mdb.Doc("_id", mdb.Doc("$gt", ""))),
			mdb.Doc("$set", mdb.Doc("silence", mdb.Doc("$subtract", bson.A{"$$NOW", "$at"}))),
		}, options.Aggregate().SetHint(mdb.Doc("_id", 1)))
		if err != nil {
			return err
		}
		all, err = mdb.ReadAll[Server](ctx, cursor, 0)
		return err
	})
	return all, err
}

// Forget removes a server that can do nothing any more; one that is heard just now is not meant.
func (r *roster) Forget(ctx context.Context, d Server) error {
	return r.DB.Read(ctx, "forget server", func(ctx context.Context) error {
		_, err := r.collection.DeleteOne(ctx, mdb.Doc("_id", d.ID, "at", d.At))
		return err
	})
}

// IsAlive waits until it is certain whether another server still has a lease: nil where it has not.
// It tells waiting of it meanwhile.
func (r *roster) IsAlive(ctx context.Context, server string, waiting func(process string)) (*Server, error) {
	if server == "" || server == r.ID {
		return nil, nil
	}
	first := time.Time{}
	for {
		all, err := r.Servers(ctx)
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(all, func(d Server) bool { return d.ID == server })
		switch {
		case i < 0 || all[i].Silence > all[i].Lease:
			return nil, nil
		case !first.IsZero() && all[i].At.After(first):
			return &all[i], nil
		}
		if first = all[i].At; waiting != nil {
			waiting(all[i].Process)
		}
		if err := r.Pause(ctx); err != nil {
			return nil, err
		}
	}
}

// Hurry asks for a heartbeat at once.
func (r *roster) Hurry() {
	select {
	case r.changed <- struct{}{}:
	default:
	}
}
