package graph

import (
	"context"
	"sync/atomic"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"plaza/social"
	"plaza/storage/mongodb/internal/eventlog"
	"plaza/storage/mongodb/internal/mdb"
	"plaza/storage/mongodb/internal/users"
)

// Config is what the follower graph needs from the rest of the engine.
type Config struct {
	Database *mongo.Database
	DB       *mdb.DB
	Log      *eventlog.Log
	Writes   func(collection string) int // the version in which documents are written now
	Users    *users.Store
	// FollowsChanged is called with the users who begin or end follows, in the same transaction.
	FollowsChanged func(ctx context.Context, owners ...social.UserID) error
	// InUse returns what a call uses.
	InUse func(context.Context) *InUse
}

// Store implements social.Graph and social.Circles on a database, and the import of circles and
// memberships.
type Store struct {
	db       *mdb.DB
	log      *eventlog.Log
	writes   func(collection string) int
	users    *users.Store
	onChange func(ctx context.Context, owners ...social.UserID) error
	inUse    func(context.Context) *InUse
	layouts  map[string]Layout

	circles      *mongo.Collection
	edges        *mongo.Collection
	acknowledged *mongo.Collection // edges, for DB.ReadAcknowledged
	allJoined    atomic.Bool       // all edges have the times of joining circles
}

var (
	_ social.Graph   = (*Store)(nil)
	_ social.Circles = (*Store)(nil)
)

// New returns the follower graph of a database, in layouts.
func New(c Config, makers map[string]Maker) *Store {
	s := &Store{
		db: c.DB, log: c.Log, writes: c.Writes, users: c.Users, onChange: c.FollowsChanged, inUse: c.InUse,
		layouts: make(map[string]Layout, len(makers)),
		circles: c.Database.Collection("circles"), edges: c.Database.Collection("edges"),
		acknowledged: mdb.Acknowledged(c.Database, "edges"),
	}
	for name, makeLayout := range makers {
		s.layouts[name] = makeLayout(s.edges)
	}
	return s
}

// Layouts returns all layouts, by name.
func (s *Store) Layouts() map[string]Layout { return s.layouts }

// Edges returns the collection of edges.
func (s *Store) Edges() *mongo.Collection { return s.edges }

// followers returns the collection in which the call reads the followers of users.
func (s *Store) followers(ctx context.Context) *mongo.Collection {
	return s.inUse(ctx).Read.Followers()
}

// followsChanged keeps all layouts of the call's era in step.
func (s *Store) followsChanged(ctx context.Context, edges ...Document) error {
	for _, layout := range s.inUse(ctx).Kept {
		if err := layout.FollowsChanged(ctx, edges...); err != nil {
			return err
		}
	}
	return nil
}

// Indexes returns the declared indexes of each collection, except those of the layouts
// ([InUse.Indexes]).
func (s *Store) Indexes() map[*mongo.Collection][]mongo.IndexModel {
	return map[*mongo.Collection][]mongo.IndexModel{
		s.circles: {
			mdb.Index(byOwnerID, mdb.Doc("owner", 1, "_id", 1)),
			mdb.UniqueIndex("owner_nameKey", mdb.Doc("owner", 1, "nameKey", 1)),
		},
		s.edges: {
			mdb.IndexHaving("follow", byFollower, mdb.Doc("owner", 1, "follow", -1, "other", 1)),
			mdb.IndexHaving("mute", byMute, mdb.Doc("owner", 1, "mute", -1, "other", 1)),
			mdb.IndexHaving("block", byBlock, mdb.Doc("owner", 1, "block", -1, "other", 1)),
			mdb.Index(byJoined, mdb.Doc("joined.$**", 1)),                 // one range for each circle, sorted by the time of joining
			mdb.IndexLacking("follow", byUnfollowed, mdb.Doc("other", 1)), // for deletions: even edges without any relation left
		},
	}
}

// ShardKeys returns the shard keys of the collections.
func ShardKeys() map[string]bson.D {
	return map[string]bson.D{
		"circles":   mdb.Doc("owner", "hashed"),
		"edges":     mdb.Doc("owner", "hashed", "other", 1),
		"followers": mdb.Doc("other", "hashed", "owner", 1),
	}
}
