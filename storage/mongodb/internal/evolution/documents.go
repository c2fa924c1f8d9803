package evolution

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/storage/mongodb/internal/mdb"
	"plaza/storage/mongodb/internal/migrate"
)

// defaultBatch is how many documents are read and written at a time.
const defaultBatch = 500

// Migrate upgrades older documents to the versions that servers write now, while servers run. It
// continues a run that was stopped, and starts from the beginning if the last one was completed.
// One process at a time does it; another one gets errBusy. Its errors are written for the operator.
func (d *Documents) Migrate(ctx context.Context, m Migration) (err error) {
	if m.Batch <= 0 {
		m.Batch = defaultBatch
	}
	var recorded record
	if !m.DryRun {
		if err := d.claim(ctx, &recorded, m.Waiting); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, d.c.Server.EndTurn(ctx, setting)) }()
	}
	pace, to := migrate.NewPace(m.Rate, m.Batch), d.c.Server.Written()
	for _, name := range d.order() {
		w := walk{d: d, m: m, c: d.c.Database.Collection(name), to: to.Of(name), pace: pace}
		w.Collection = name
		if position := recorded.Walks[name]; position.Version == w.to {
			w.after, w.Done = position.After, position.Done
		}
		if err := w.run(ctx); err != nil {
			return err
		}
	}
	if m.DryRun {
		return nil
	}
	err = d.change(ctx, mdb.Doc("$unset", mdb.Doc("walks", 1), "$set", mdb.Doc("finished", time.Now(), "newest", to)))
	if err == nil {
		err = d.c.Upgraded(ctx, to)
	}
	return err
}

// State returns the progress of the migration of documents.
func (d *Documents) State(ctx context.Context) (State, error) {
	var r record
	servers, err := d.c.Server.Servers(ctx)
	if err == nil {
		err = d.read(ctx, &r)
	}
	written := d.c.Server.Written()
	state := State{UnderWay: r.Driver != "" || r.Walks != nil, Finished: mdb.UTC(r.Finished), Newest: r.Newest.Reach(written)}
	for _, name := range slices.Sorted(maps.Keys(r.Walks)) {
		if p := r.Walks[name]; p.Version == written.Of(name) {
			state.Collections = append(state.Collections, Progress{Collection: name, Done: p.Done, Total: p.Total})
		}
	}
	for _, server := range servers {
		if server.ID == r.Driver && server.Silence <= server.Lease {
			state.Driver = server.Process
		}
	}
	return state, err
}

// Old returns the collections that have documents of older versions than servers write now: none
// after Migrate. Before that it may read whole collections.
func (d *Documents) Old(ctx context.Context) (collections []string, err error) {
	state, err := d.State(ctx)
	if err != nil || state.Newest {
		return nil, err
	}
	for _, name := range d.names() {
		err := d.c.Database.Collection(name).FindOne(ctx, mdb.Doc("v", mdb.Doc("$lt", d.c.Server.Written().Of(name))),
			options.FindOne().SetProjection(mdb.Doc("_id", 1)).SetHint(mdb.Doc("$natural", 1))).Err()
		switch {
		case err == nil:
			collections = append(collections, name)
		case !errors.Is(err, mongo.ErrNoDocuments):
			return nil, mdb.Translate(ctx, "old documents", err)
		}
	}
	return collections, nil
}

// Versions counts the documents of each collection that has had several versions. It reads all of
// them.
func (d *Documents) Versions(ctx context.Context) ([]Counts, error) {
	var all []Counts
	for _, name := range d.names() {
		cursor, err := d.c.Database.Collection(name).Aggregate(ctx, bson.A{mdb.Doc("$group", mdb.Doc("_id", "$v", "count", mdb.Doc("$sum", 1)))})
		if err != nil {
			return nil, mdb.Translate(ctx, "count versions", err)
		}
		var groups []struct {
			Version int `bson:"_id"`
			Count   int `bson:"count"`
		}
		if err := cursor.All(ctx, &groups); err != nil {
			return nil, mdb.Translate(ctx, "count versions", err)
		}
		v := Counts{Collection: name, Newest: d.c.Server.Written().Of(name), Counts: map[int]int{}}
		for _, g := range groups {
			v.Counts[g.Version] = g.Count
		}
		all = append(all, v)
	}
	return all, nil
}
