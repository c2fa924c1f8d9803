package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"plaza/storage"
	"plaza/storage/mongodb"
	"plaza/storage/sqlite"
)

// databaseName is the name of the embedded database's file.
const databaseName = "plaza.sqlite"

// makeStore opens the database that the configuration names, and creates it if missing.
func (c *commonFlags) makeStore(ctx context.Context) (storage.Store, error) {
	o := c.mongodbOptions()
	o.Logger, o.Outdated, o.Unfinished = slog.Default(), c.Outdated, unfinished
	return c.openWith(ctx, o, nil) // which the logger reports
}

// openStore opens the database that the configuration names, for a command that needs existing
// data: it does not create one.
func (c *commonFlags) openStore(ctx context.Context) (storage.Store, error) {
	if c.console.store != nil {
		return borrowed{c.console.store}, nil
	}
	st, err := c.openWith(ctx, c.existingMongoDB(), c.upgraded)
	if c.MongodbURI == "" && errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no Plaza database in %s: name its folder with --data or PLAZA_DATA", c.Data)
	}
	return st, err
}

// upgraded tells the operator that a command, which perhaps only reads, has changed the embedded
// database: earlier versions refuse it from now on.
func (c *commonFlags) upgraded(from, to int64) {
	fmt.Fprintf(os.Stderr, "plaza: upgraded the tables of %s from version %d to %d\n", filepath.Join(c.Data, databaseName), from, to)
}

// openWith opens the engine that the configuration names. It rejects unknown layouts, even for the
// embedded database, which ignores layouts. upgraded is called when it has upgraded the tables of
// the embedded database; nil: nothing is.
func (c *commonFlags) openWith(ctx context.Context, o mongodb.Options, upgraded func(from, to int64)) (storage.Store, error) {
	o.Comments, o.Feeds, o.Graph = c.Comments, c.Feeds, c.Graph
	if err := o.CheckLayouts(); err != nil {
		return nil, err
	}
	if c.MongodbURI != "" {
		return mongodb.Open(ctx, string(c.MongodbURI), o)
	}
	return sqlite.OpenWith(ctx, filepath.Join(c.Data, databaseName), sqlite.Options{Logger: o.Logger, Upgraded: upgraded, MustExist: o.MustExist})
}

// openMongoDB opens the database of a command that only works on MongoDB, whatever its layouts are;
// embedded explains why it does not work on the embedded database.
func (c *commonFlags) openMongoDB(ctx context.Context, embedded string, o mongodb.Options) (*mongodb.Store, error) {
	if c.MongodbURI == "" {
		return nil, fmt.Errorf("the embedded database %s (name a MongoDB database with --mongodb-uri or PLAZA_MONGODB_URI)", embedded)
	}
	return mongodb.Open(ctx, string(c.MongodbURI), o)
}

// mongodbOptions returns all options except the layouts, which the database knows.
func (c *commonFlags) mongodbOptions() mongodb.Options {
	return mongodb.Options{
		Logger: c.warnings(), MergeAbove: int(c.MergeAbove), Heartbeat: c.Heartbeat, Lease: c.Lease, TransactionLife: c.TransactionLife,
	}
}

// unfinished logs that the previous version can use the database until the operator finishes the
// upgrade.
func unfinished() {
	slog.Info("the database stays compatible with the previous version of Plaza: run \"plaza migrate finish\" when you are sure that you will not go back")
}

// existingMongoDB returns mongodbOptions for a database that must exist.
func (c *commonFlags) existingMongoDB() mongodb.Options {
	o := c.mongodbOptions()
	o.MustExist = true
	return o
}
