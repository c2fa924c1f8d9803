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

// Server is a document of "servers", for one open Store. It exists from before the Store reads its
// settings until after its last write. A migration that continues without the Store must be sure
// that it is gone (migration.agree).
type Server struct {
	ID      string         `bson:"_id"`
	Version int            `bson:"v"`
	Process string         `bson:"process"` // for operators: host and process id
	App     string         `bson:"app"`     // the application name of its connections; "" in old versions of Plaza
	User    string         `bson:"user"`    // the MongoDB user; "" without access control
	Adopted map[string]int `bson:"adopted"` // by setting: the oldest generation that calls still use
	Knows   Versions       `bson:"knows"`   // the newest versions of documents that it reads; empty in old versions of Plaza
	Writes  Versions       `bson:"writes"`  // the oldest versions in which calls still write documents
	Lease   int64          `bson:"lease"`   // in ms: how long after At it may act
	At      time.Time      `bson:"at"`      // the last heartbeat, by the database's clock
	Silence int64          `bson:"silence"` // in ms: the time since At; computed by the query, not stored
}

// Describe returns the process and a warning if its heartbeats are missing, for operators.
func (d *Server) Describe() string {
	if d.Silence < d.Lease {
		return d.Process
	}
	return fmt.Sprintf("%s, silent for %d s", d.Process, d.Silence/1000)
}

// Silent returns the time since the last heartbeat, or 0 if few heartbeats are missing.
func (d *Server) Silent() time.Duration {
	if d.Silence < d.Lease/4 {
		return 0
	}
	return time.Duration(d.Silence) * time.Millisecond
}

// roster gives one server access to the list of all servers of the database, and to what they have
// recorded for each other.
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
	changed          chan struct{} // asks for an immediate heartbeat
}

// silentLife is how long the document of a dead server is kept: far longer than any of its
// operations can last.
const silentLife = 24 * time.Hour

// Indexes returns the declared indexes of the servers' collection.
func (r *roster) Indexes() map[*mongo.Collection][]mongo.IndexModel {
	return map[*mongo.Collection][]mongo.IndexModel{r.collection: {mdb.ExpiringIndex("at", silentLife)}}
}

// Pause waits before the next look at the servers.
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

// Forget removes a server that can do nothing more, unless it has sent a heartbeat since it was
// read.
func (r *roster) Forget(ctx context.Context, d Server) error {
	return r.DB.Read(ctx, "forget server", func(ctx context.Context) error {
		_, err := r.collection.DeleteOne(ctx, mdb.Doc("_id", d.ID, "at", d.At))
		return err
	})
}

// IsAlive waits until it is certain whether another server is alive: it returns the server after a
// new heartbeat, and nil if the lease has ended. Meanwhile it calls waiting (optional) with the
// name of the process.
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

// Hurry asks for an immediate heartbeat.
func (r *roster) Hurry() {
	select {
	case r.changed <- struct{}{}:
	default:
	}
}
