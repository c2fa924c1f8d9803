package bench

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"

	"plaza/bench/measure"
	"plaza/storage/mongodb"
)

// Arena holds the rivals' databases, and drops them at the end.
type Arena struct {
	Meter *measure.Meter

	uri       string
	database  string // the prefix of all databases' names
	overwrite bool
	client    *mongo.Client
	opened    []*Rival
}

// Rival is one of the compared designs, with its own database.
type Rival struct {
	Name  string
	Store *mongodb.Store // nil if there is only the database
	Wire  *measure.Wire

	database *mongo.Database
}

const (
	defaultDatabase = "plaza_bench"
	dropTime        = time.Minute
)

// OpenArena connects to MongoDB. The database in the URI (default: plaza_bench) must have "bench"
// in its name. With overwrite, OpenArena drops databases that earlier runs have left.
func OpenArena(ctx context.Context, uri string, overwrite bool) (*Arena, error) {
	if uri == "" {
		return nil, errors.New("a benchmark needs a MongoDB: --mongodb-uri=mongodb://host/plaza_bench?replicaSet=rs0")
	}
	database := databaseIn(uri)
	if database == "" {
		database = defaultDatabase
	}
	if !strings.Contains(strings.ToLower(database), "bench") {
		return nil, fmt.Errorf("the MongoDB URI names the database %q: a benchmark drops its databases, so their name must have \"bench\" in it", database)
	}
	client, err := mongo.Connect(options.Client().ApplyURI(uri))
	if err != nil {
		return nil, fmt.Errorf("the MongoDB URI can't be used: %w", err)
	}
	meter, err := measure.NewMeter(ctx, client)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("MongoDB can't be measured: %w", err), client.Disconnect(ctx))
	}
	return &Arena{Meter: meter, uri: uri, database: database, overwrite: overwrite, client: client}, nil
}

// Open opens a store for a rival, on its own empty database.
func (a *Arena) Open(ctx context.Context, name string, o mongodb.Options) (*Rival, error) {
	database, err := a.empty(ctx, name)
	if err != nil {
		return nil, err
	}
	r := &Rival{Name: name, Wire: &measure.Wire{}, database: database}
	o.Monitor = r.Wire.Monitor()
	a.opened = append(a.opened, r) // from now on, Close drops it
	r.Store, err = mongodb.Open(ctx, inDatabase(a.uri, database.Name()), o)
	if err != nil {
		return nil, err
	}
	return r, nil
}

// OpenBare opens an empty database for a rival that stores data in its own way. Its client writes
// as a store does: acknowledged by a majority, and journaled.
func (a *Arena) OpenBare(ctx context.Context, subject, name string) (*Rival, error) {
	database, err := a.empty(ctx, subject+" "+name)
	if err != nil {
		return nil, err
	}
	r := &Rival{Name: name, Wire: &measure.Wire{}, database: database}
	journaled := true
	client, err := mongo.Connect(options.Client().ApplyURI(a.uri).SetMonitor(r.Wire.Monitor()).
		SetWriteConcern(&writeconcern.WriteConcern{W: writeconcern.WCMajority, Journal: &journaled}))
	if err != nil {
		return nil, err
	}
	r.database = client.Database(database.Name())
	a.opened = append(a.opened, r)
	return r, nil
}

// empty returns an empty database for the named rival.
func (a *Arena) empty(ctx context.Context, name string) (*mongo.Database, error) {
	database := a.client.Database(a.database + "_" + strings.NewReplacer(" ", "_", "+", "_").Replace(name))
	collections, err := database.ListCollectionNames(ctx, bson.D{})
	switch {
	case err != nil:
		return nil, fmt.Errorf("database %s: %w", database.Name(), err)
	case len(collections) == 0:
		return database, nil
	case !a.overwrite:
		return nil, fmt.Errorf("the database %s is not empty: drop it, let --overwrite do that, or name another one in the URI", database.Name())
	}
	if err := database.Drop(ctx); err != nil {
		return nil, fmt.Errorf("database %s: %w", database.Name(), err)
	}
	return database, nil
}

// Close drops all databases that were opened, even when ctx has ended.
func (a *Arena) Close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), dropTime)
	defer cancel()
	var failed []error
	for _, r := range a.opened {
		if r.Store != nil {
			failed = append(failed, r.Store.Close())
		}
		failed = append(failed, r.database.Drop(ctx))
		if client := r.database.Client(); client != a.client {
			failed = append(failed, client.Disconnect(ctx))
		}
	}
	return errors.Join(append(failed, a.client.Disconnect(ctx))...)
}

// shrinkCache sets mongod's cache size in MB, until restore is called.
func (a *Arena) shrinkCache(ctx context.Context, megabytes int) (restore func(context.Context) error, err error) {
	before, err := a.Meter.CacheSize(ctx)
	if err != nil {
		return nil, err
	}
	resize := func(ctx context.Context, megabytes int64) error {
		config := fmt.Sprintf("cache_size=%dM", megabytes)
		return a.client.Database("admin").RunCommand(ctx, bson.D{{Key: "setParameter", Value: 1}, {Key: "wiredTigerEngineRuntimeConfig", Value: config}}).Err()
	}
	return func(ctx context.Context) error {
		return resize(context.WithoutCancel(ctx), before>>20)
	}, resize(ctx, int64(megabytes))
}

// machine describes the machine of a run.
func (a *Arena) machine(ctx context.Context) string {
	return fmt.Sprintf("%d CPUs, %s and MongoDB %s", runtime.NumCPU(), runtime.Version(), a.Meter.Version(ctx))
}

// afterHosts splits a URI into the part before the path, the path without its slash, and the rest.
func afterHosts(uri string) (before, path, query string) {
	start := strings.Index(uri, "://") + len("://")
	if end := strings.IndexAny(uri[start:], "/?"); end >= 0 {
		before, uri = uri[:start+end], uri[start+end:]
	} else {
		before, uri = uri, ""
	}
	path, query, found := strings.Cut(strings.TrimPrefix(uri, "/"), "?")
	if found {
		query = "?" + query
	}
	return before, path, query
}

func databaseIn(uri string) string {
	_, path, _ := afterHosts(uri)
	return path
}

func inDatabase(uri, database string) string {
	before, _, query := afterHosts(uri)
	return before + "/" + database + query
}
