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

// ShardKeys returns the shard keys of all collections of all layouts, by collection name. A
// collection with a nil key is small, and is not sharded: it stays on the database's primary shard.
//
// Each key is hashed, because ids grow with time: with ranges of ids, all new documents would go to
// one shard. A second field allows the documents of one user or post to be split into several
// chunks. A unique index begins with the key, or is the index on _id if the _id determines the key.
// Otherwise two shards could each store the same value.
func ShardKeys() map[string]bson.D {
	own := mdb.Doc("_id", "hashed")
	keys := map[string]bson.D{
		"posts":        own,
		"postVersions": mdb.Doc("post", "hashed"),
		"reactions":    own, // post and user
		"votes":        own, // post and user
		"threadMutes":  own, // post and user

		"openPolls": nil, // small, and taken by the time that they close

		"settings":  nil, // a few documents
		"sequences": nil, // one document
		"servers":   nil, // one document for each server
		"jobs":      nil, // empty most of the time, and searched by the time at which they are due
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

// ErrNotSharded is returned by Shard if the deployment is not a sharded cluster.
var ErrNotSharded = errors.New("this MongoDB is a replica set, and only a sharded cluster can be sharded")

// shardStep shards one collection.
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

// ShardCommands returns the lines for mongosh that shard the database. Running them again changes
// nothing.
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

// shellKey formats a key in mongosh's syntax.
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

// Shard does what ShardCommands do, and calls done for each collection. It returns an error if the
// deployment is not a sharded cluster, or if a collection has another shard key. It may be stopped,
// and run again later: it skips what is done.
func (s *Store) Shard(ctx context.Context, done func(collection string)) error {
	if !s.member.Routed {
		return ErrNotSharded
	}
	return s.shardBy(ctx, func(command bson.D) error {
		return s.client().Database("admin").RunCommand(ctx, command).Err()
	}, done)
}

// shardBy shards with the cluster's commands, which run sends.
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

// createIndex creates the index on the key. A collection with documents must have it before it is
// sharded.
func (t shardStep) createIndex(ctx context.Context) error {
	_, err := t.collection.Indexes().CreateOne(ctx, mongo.IndexModel{Keys: t.key})
	return err
}
