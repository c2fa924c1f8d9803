package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"

	"plaza/storage"
	"plaza/storage/mongodb"
	"plaza/storage/sqlite"
)

// makeStore opens the database that the configuration names, and makes it where it is missing.
func (c *commandLine) makeStore(ctx context.Context) (storage.Store, error) {
	o := c.mongodbOptions()
	o.Logger, o.Outdated, o.Unfinished = slog.Default(), c.Outdated, unfinished
	return c.openWith(ctx, o)
}

// openStore opens the database that the configuration names, for a command that needs what is in it: it makes none.
func (c *commandLine) openStore(ctx context.Context) (storage.Store, error) {
	st, err := c.openWith(ctx, c.existingMongoDB())
	if c.MongodbURI == "" && errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no Plaza database in %s: name its folder with --data or PLAZA_DATA", c.Data)
	}
	return st, err
}

// openWith opens the engine that the configuration names. Layouts that there are not are refused, also where the embedded database would not have them anyway.
func (c *commandLine) openWith(ctx context.Context, o mongodb.Options) (storage.Store, error) {
	o.Comments, o.Feeds, o.Graph = c.Comments, c.Feeds, c.Graph
	if err := o.CheckLayouts(); err != nil {
		return nil, err
	}
	if c.MongodbURI != "" {
		return mongodb.Open(ctx, string(c.MongodbURI), o)
	}
	return sqlite.OpenWith(ctx, filepath.Join(c.Data, "plaza.sqlite"), sqlite.Options{Logger: o.Logger, MustExist: o.MustExist})
}

// openMongoDB opens the database of a command that only MongoDB has, whatever its layouts are; embedded says why the embedded
// database has not.
func (c *commandLine) openMongoDB(ctx context.Context, embedded string, o mongodb.Options) (*mongodb.Store, error) {
	if c.MongodbURI == "" {
		return nil, fmt.Errorf("the embedded database %s (name a MongoDB database with --mongodb-uri or PLAZA_MONGODB_URI)", embedded)
	}
	return mongodb.Open(ctx, string(c.MongodbURI), o)
}

// mongodbOptions are all but the layouts, which the database knows.
func (c *commandLine) mongodbOptions() mongodb.Options {
	return mongodb.Options{
		Logger: c.warnings(), MergeAbove: c.MergeAbove, Heartbeat: c.Heartbeat, Lease: c.Lease, TransactionLife: c.TransactionLife,
	}
}

// unfinished says that the previous version can use the database, until the operator ends that.
func unfinished() {
	slog.Info("the database is kept so that the previous version of Plaza can use it, too: run \"plaza migrate finish\" when you will not go back")
}

// warnings is the log of a command that is no server: it has warnings and errors alone.
func (c *commandLine) warnings() *slog.Logger {
	if c.LogLevel == "error" {
		return newLogger("error")
	}
	return newLogger("warn")
}

// existingMongoDB are mongodbOptions of a database that must be there.
func (c *commandLine) existingMongoDB() mongodb.Options {
	o := c.mongodbOptions()
	o.MustExist = true
	return o
}
