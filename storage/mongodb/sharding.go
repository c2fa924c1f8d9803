package mongodb

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"plaza/storage/mongodb/internal/adstore"
	"plaza/storage/mongodb/internal/eventlog"
	"plaza/storage/mongodb/internal/feeds"
	"plaza/storage/mongodb/internal/graph"
	"plaza/storage/mongodb/internal/idempotency"
	"plaza/storage/mongodb/internal/mdb"
	"plaza/storage/mongodb/internal/moderation"
	"plaza/storage/mongodb/internal/notifications"
	"plaza/storage/mongodb/internal/profiles"
	"plaza/storage/mongodb/internal/threads"
	"plaza/storage/mongodb/internal/users"
)

// ShardKeys are the declared shard keys of all collections of all layouts, by their names. A
// collection without one is not sharded: it is small, and stays on the database's primary shard.
//
// Each key is hashed, because ids grow with time: in ranges of them all new documents would go to
// one shard. A second field lets what belongs to one user or post be cut into several chunks.
// Unique indexes begin with the key, or are that on _id where the _id decides the key; else equal
// values on two shards would not meet.
func ShardKeys() map[string]bson.D {
	own := mdb.Doc("_id", "hashed")
	keys := map[string]bson.D{
		"posts":        own,
		"postVersions": mdb.Doc("post", "hashed"),
		"reactions":    own, // post and user
		"votes":        own, // post and user
		"threadMutes":  own, // post and user

		"settings":  nil, // a few documents
		"sequences": nil, // one document
		"servers":   nil, // a document a server
		"jobs":      nil, // empty most of the time, and taken by the time that they are due
	}
	maps.Copy(keys, eventlog.ShardKeys())
	maps.Copy(keys, users.ShardKeys())
	maps.Copy(keys, graph.ShardKeys())
	maps.Copy(keys, profiles.ShardKeys())
	maps.Copy(keys, adstore.ShardKeys())
	maps.Copy(keys, feeds.ShardKeys())
	maps.Copy(keys, notifications.ShardKeys())
	maps.Copy(keys, moderation.ShardKeys())
	maps.Copy(keys, idempotency.ShardKeys())
	for layout := range commentLayouts {
		maps.Copy(keys, threads.ShardKeys(layout))
	}
	return keys
}

// ErrNotSharded is what Shard says without a mongos.
var ErrNotSharded = errors.New("this MongoDB is a replica set, and only a sharded cluster can be sharded")

// shardStep spreads one collection.
type shardStep struct {
	collection *mongo.Collection
	key        bson.D
}

// shardSteps are the sharded collections that the database's layouts have, by name.
func (s *Store) shardSteps() []shardStep {
	keys := ShardKeys()
	var steps []shardStep
	for c := range s.allIndexes() {
		if key := keys[c.Name()]; key != nil {
			steps = append(steps, shardStep{c, key})
		}
	}
	slices.SortFunc(steps, func(a, b shardStep) int { return strings.Compare(a.collection.Name(), b.collection.Name()) })
	return steps
}

// ShardCommands are the lines for mongosh that spread the database over the shards of a cluster. To
// run them again changes nothing.
func (s *Store) ShardCommands() []string {
	name := s.settings.Database().Name()
	lines := []string{fmt.Sprintf("sh.enableSharding(%q)", name)}
	for _, step := range s.shardSteps() {
		key := shellKey(step.key)
		lines = append(lines,
			fmt.Sprintf("db.getSiblingDB(%q).getCollection(%q).createIndex(%s)", name, step.collection.Name(), key),
			fmt.Sprintf("sh.shardCollection(%q, %s)", step.namespace(), key))
	}
	return lines
}

func (t shardStep) namespace() string {
	return t.collection.Database().Name() + "." + t.collection.Name()
}

// shellKey writes a key as mongosh reads it.
func shellKey(key bson.D) string {
	fields := make([]string, len(key))
	for i, e := range key {
		fields[i] = fmt.Sprintf("%q: %v", e.Key, e.Value)
		if text, ok := e.Value.(string); ok {
			fields[i] = fmt.Sprintf("%q: %q", e.Key, text)
		}
	}
	return "{" + strings.Join(fields, ", ") + "}"
}

// Shard does what ShardCommands say, and tells done of each collection. It refuses what is no
// sharded cluster, and a collection that is sharded in another way. Where it was stopped, it can go
// on: what is done stays as it is.
func (s *Store) Shard(ctx context.Context, done func(collection string)) error {
	if !s.member.Routed {
		return ErrNotSharded
	}
	return s.shardBy(ctx, func(command bson.D) error {
		return s.client().Database("admin").RunCommand(ctx, command).Err()
	}, done)
}

// shardBy shards with the cluster's commands as run sends them.
func (s *Store) shardBy(ctx context.Context, run func(command bson.D) error, done func(collection string)) error {
	if err := run(mdb.Doc("enableSharding", s.settings.Database().Name())); err != nil {
		return mdb.Translate(ctx, "enable sharding", err)
	}
	for _, step := range s.shardSteps() {
		if err := step.createIndex(ctx); err != nil {
			return mdb.Translate(ctx, "index of the shard key of "+step.namespace(), err)
		}
		// The cluster finds the collection sharded with this key already, or refuses another one.
		if err := run(mdb.Doc("shardCollection", step.namespace(), "key", step.key)); err != nil {
			return mdb.Translate(ctx, "shard "+step.namespace(), err)
		}
		done(step.collection.Name())
	}
	return nil
}

// createIndex makes the index of the key, which a collection with documents must have before it is
// sharded.
func (t shardStep) createIndex(ctx context.Context) error {
	_, err := t.collection.Indexes().CreateOne(ctx, mongo.IndexModel{Keys: t.key})
	return err
}
