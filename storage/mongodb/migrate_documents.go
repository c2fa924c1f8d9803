package mongodb

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/storage/mongodb/internal/adstore"
	"plaza/storage/mongodb/internal/cluster"
	"plaza/storage/mongodb/internal/mdb"
	"plaza/storage/mongodb/internal/migrate"
)

// DocumentMigration says how to bring all documents to the newest versions.
type DocumentMigration struct {
	Batch    int  // documents that are read and written at a time; default: 500
	Rate     int  // documents a second at most; 0 for as many as can be
	DryRun   bool // read everything, write nothing
	Progress func(DocumentProgress)
	// Waiting is called with the process that did it before, as long as that may still run.
	// Optional.
	Waiting func(process string)
}

// DocumentProgress says how far a collection is.
type DocumentProgress struct {
	Collection string
	Done       int // documents that were looked at, or lie before the place where an earlier run was stopped
	Total      int // about how many there are
	Upgraded   int // in this run
}

// DocumentMigrationState says how far the migration of documents is.
type DocumentMigrationState struct {
	UnderWay    bool
	Collections []DocumentProgress // that were begun, while it is under way; Upgraded is 0
	Driver      string             // the process that is at it, or was until a moment ago; "": none
	Finished    time.Time          // when the last one ended; zero: none has
	Newest      bool               // the last one that ended brought documents to the versions that servers write now
}

// DocumentVersions says how many documents of a collection have each version.
type DocumentVersions struct {
	Collection string
	Newest     int         // that servers write now
	Counts     map[int]int // by version
}

const defaultEvolveBatch = 500

// documentMigrationDoc is a document of settings: how far the migration of documents is, or that it
// has ended.
type documentMigrationDoc struct {
	Driver   string                 `bson:"driver"`   // the server that is at it; "": none
	Walks    map[string]positionDoc `bson:"walks"`    // by collection; nil: none is under way
	Finished time.Time              `bson:"finished"` // the last one
	Newest   cluster.Versions       `bson:"newest"`   // the versions that it reached
}

// positionDoc says how far a collection is on the way to a version.
type positionDoc struct {
	Version int           `bson:"version"`
	After   bson.RawValue `bson:"after"` // an _id: all up to there are done
	Done    int           `bson:"done"`
	Total   int           `bson:"total"`
}

const (
	documentMigrationSetting = "documentMigration"
	// upgradeTries is how often a document is read again that is changed at the same time.
	upgradeTries = 5
)

// upgrades make the update that brings a document to a version. It writes only while the document
// still says what it was computed from.
var upgrades = func() map[string]func(raw bson.Raw, to int) (*mongo.UpdateOneModel, error) {
	all := map[string]func(raw bson.Raw, to int) (*mongo.UpdateOneModel, error){
		"users": func(raw bson.Raw, to int) (*mongo.UpdateOneModel, error) {
			var d userDoc
			if err := mdb.ReadDocument(raw, &d); err != nil {
				return nil, err
			}
			return upgrade(raw, mdb.Doc("v", to, "nameOrder", d.NameOrder), "name"), nil
		},
		"posts": func(raw bson.Raw, to int) (*mongo.UpdateOneModel, error) {
			var d postDoc
			if err := mdb.ReadDocument(raw, &d); err != nil {
				return nil, err
			}
			return upgrade(raw, mdb.Doc("v", to, "detail", d.Detail), "revision"), nil
		},
		"postVersions": func(raw bson.Raw, to int) (*mongo.UpdateOneModel, error) {
			var d versionDoc
			if err := mdb.ReadDocument(raw, &d); err != nil {
				return nil, err
			}
			return upgrade(raw, mdb.Doc("v", to, "detail", d.Detail)), nil
		},
		"edges": upgradeEdge, "reactions": upgradeMark, "votes": upgradeMark, "threadMutes": upgradeMark,
	}
	for collection := range adstore.Versions() {
		all[collection] = upgradeVersion
	}
	return all
}()

// upgradeVersion changes the version alone.
func upgradeVersion(raw bson.Raw, to int) (*mongo.UpdateOneModel, error) {
	return upgrade(raw, mdb.Doc("v", to)), nil
}

func upgradeMark(raw bson.Raw, to int) (*mongo.UpdateOneModel, error) {
	var d markDoc
	if err := mdb.ReadDocument(raw, &d); err != nil {
		return nil, err
	}
	return upgrade(raw, mdb.Doc("v", to, "user", d.User)), nil
}

func upgrade(raw bson.Raw, set bson.D, unchanged ...string) *mongo.UpdateOneModel {
	filter := mdb.Doc("_id", raw.Lookup("_id"), "v", raw.Lookup("v"))
	for _, field := range unchanged {
		filter = append(filter, bson.E{Key: field, Value: raw.Lookup(field)})
	}
	return mongo.NewUpdateOneModel().SetFilter(filter).SetUpdate(mdb.Doc("$set", set))
}

// MigrateDocuments brings what older servers have written to the versions that servers write now,
// while they go on. It goes on where an earlier run was stopped, and begins again where that one
// had ended. One process at a time does it: for any other the error is errDocumentsBusy. Its errors
// are for people.
func (s *Store) MigrateDocuments(ctx context.Context, m DocumentMigration) (err error) {
	if m.Batch <= 0 {
		m.Batch = defaultEvolveBatch
	}
	var recorded documentMigrationDoc
	if !m.DryRun {
		if err := s.claimDocuments(ctx, &recorded, m.Waiting); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, s.member.EndTurn(ctx, documentMigrationSetting)) }()
	}
	pace, to := migrate.NewPace(m.Rate, m.Batch), s.written()
	for _, name := range upgradeOrder() {
		walk := evolution{s: s, m: m, c: s.users.Database().Collection(name), to: to.Of(name), pace: pace}
		walk.Collection = name
		if position := recorded.Walks[name]; position.Version == walk.to {
			walk.after, walk.Done = position.After, position.Done
		}
		if err := walk.run(ctx); err != nil {
			return err
		}
	}
	if m.DryRun {
		return nil
	}
	err = s.changeDocumentMigration(ctx, mdb.Doc("$unset", mdb.Doc("walks", 1), "$set", mdb.Doc("finished", time.Now(), "newest", to)))
	if err == nil {
		s.noteUpgraded(to)
	}
	return err
}

// upgradeOrder begins with users, whom a search by name would miss.
func upgradeOrder() []string {
	names := slices.Sorted(maps.Keys(upgrades))
	return append([]string{"users"}, slices.DeleteFunc(names, func(name string) bool { return name == "users" })...)
}

// errDocumentsBusy says that another process is upgrading documents.
var errDocumentsBusy = errors.New("documents are being upgraded by another process just now")

// claimDocuments makes this process the one that migrates documents.
func (s *Store) claimDocuments(ctx context.Context, recorded *documentMigrationDoc, waiting func(process string)) error {
	holder, err := s.member.TakeTurn(ctx, documentMigrationSetting, waiting)
	if err != nil {
		return err
	}
	if holder != nil {
		return fmt.Errorf("%w (%s)", errDocumentsBusy, holder.Process)
	}
	return s.readDocumentMigration(ctx, recorded)
}

// changeDocumentMigration changes what is recorded. migrate.ErrOvertaken: this process was silent for so
// long that another one goes on.
func (s *Store) changeDocumentMigration(ctx context.Context, update bson.D) error {
	return s.db.Read(ctx, "settings", func(ctx context.Context) error {
		result, err := s.settings.UpdateOne(ctx, mdb.Doc("_id", documentMigrationSetting, "driver", s.member.ID), update)
		if err == nil && result.MatchedCount == 0 {
			return migrate.ErrOvertaken
		}
		return err
	})
}

func (s *Store) readDocumentMigration(ctx context.Context, to *documentMigrationDoc) error {
	*to = documentMigrationDoc{}
	return s.db.Read(ctx, "settings", func(ctx context.Context) error {
		err := s.settings.FindOne(ctx, mdb.Doc("_id", documentMigrationSetting)).Decode(to)
		if errors.Is(err, mongo.ErrNoDocuments) {
			return nil
		}
		return err
	})
}

// DocumentMigration says how far the migration of documents is.
func (s *Store) DocumentMigration(ctx context.Context) (DocumentMigrationState, error) {
	var d documentMigrationDoc
	servers, err := s.member.Servers(ctx)
	if err == nil {
		err = s.readDocumentMigration(ctx, &d)
	}
	written := s.written()
	state := DocumentMigrationState{UnderWay: d.Driver != "" || d.Walks != nil, Finished: mdb.UTC(d.Finished), Newest: d.Newest.Reach(written)}
	for _, name := range slices.Sorted(maps.Keys(d.Walks)) {
		if p := d.Walks[name]; p.Version == written.Of(name) {
			state.Collections = append(state.Collections, DocumentProgress{Collection: name, Done: p.Done, Total: p.Total})
		}
	}
	for _, server := range servers {
		if server.ID == d.Driver && server.Silence <= server.Lease {
			state.Driver = server.Process
		}
	}
	return state, err
}

// evolution walks one collection by _id.
type evolution struct {
	s     *Store
	m     DocumentMigration
	c     *mongo.Collection
	to    int // the version
	pace  migrate.Pace
	after bson.RawValue // zero: from the start
	DocumentProgress
}

func (w *evolution) run(ctx context.Context) error {
	err := w.s.db.Read(ctx, "count", func(ctx context.Context) error {
		total, err := w.c.EstimatedDocumentCount(ctx)
		w.Total = int(total)
		return err
	})
	w.show()
	for more := true; more && err == nil; {
		more, err = w.batch(ctx)
		if err == nil {
			w.show()
		}
	}
	return err
}

func (w *evolution) show() {
	if w.m.Progress != nil {
		w.m.Progress(w.DocumentProgress)
	}
}

// batch upgrades the next documents, and says whether there may be more.
func (w *evolution) batch(ctx context.Context) (more bool, err error) {
	var docs []bson.Raw
	err = w.s.db.Read(ctx, "migrate documents", func(ctx context.Context) error {
		filter := bson.D{}
		if w.after.Type != 0 {
			filter = mdb.Doc("_id", mdb.Doc("$gt", w.after))
		}
		docs, err = mdb.FindAll[bson.Raw](ctx, w.c, filter, w.m.Batch,
			options.Find().SetSort(mdb.Doc("_id", 1)).SetLimit(int64(w.m.Batch)).SetHint("_id_"))
		if err != nil {
			return err
		}
		return w.upgrade(ctx, docs)
	})
	if err != nil || len(docs) == 0 {
		return false, err
	}
	w.Done += len(docs)
	w.after = docs[len(docs)-1].Lookup("_id")
	if err := w.remember(ctx); err != nil {
		return false, err
	}
	return len(docs) == w.m.Batch, w.pace.Wait(ctx, len(docs))
}

// upgrade writes the documents that are older. It reads those again that were changed since they
// were read.
func (w *evolution) upgrade(ctx context.Context, docs []bson.Raw) error {
	for range upgradeTries {
		models, ids, err := w.models(docs)
		if err != nil || len(models) == 0 {
			return err
		}
		if w.m.DryRun {
			w.Upgraded += len(models)
			return nil
		}
		result, err := w.c.BulkWrite(ctx, models, options.BulkWrite().SetOrdered(false))
		if err != nil {
			return err
		}
		w.Upgraded += int(result.ModifiedCount)
		if int(result.ModifiedCount) == len(models) {
			return nil
		}
		if docs, err = mdb.FindIn[bson.Raw](ctx, w.c, "_id", ids, options.Find().SetHint("_id_")); err != nil {
			return err
		}
	}
	return nil // servers of the older version change it all the time: what is left is for the next run
}

// models are the updates of those documents that are older, and their ids.
func (w *evolution) models(docs []bson.Raw) (models []mongo.WriteModel, ids []bson.RawValue, err error) {
	for _, raw := range docs {
		if v, ok := raw.Lookup("v").AsInt64OK(); ok && int(v) >= w.to {
			continue
		}
		model, err := upgrades[w.Collection](raw, w.to)
		if err != nil {
			return nil, nil, err
		}
		models, ids = append(models, model), append(ids, raw.Lookup("_id"))
	}
	return models, ids, nil
}

func (w *evolution) remember(ctx context.Context) error {
	if w.m.DryRun {
		return nil
	}
	at := positionDoc{Version: w.to, After: w.after, Done: w.Done, Total: w.Total}
	return w.s.changeDocumentMigration(ctx, mdb.Doc("$set", mdb.Doc("walks."+w.Collection, at)))
}

// OldDocuments names the collections that have documents of older versions than servers write now;
// none, once MigrateDocuments has brought all to those. Before that it may read whole collections.
func (s *Store) OldDocuments(ctx context.Context) (collections []string, err error) {
	state, err := s.DocumentMigration(ctx)
	if err != nil || state.Newest {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(upgrades)) {
		err := s.users.Database().Collection(name).FindOne(ctx, mdb.Doc("v", mdb.Doc("$lt", s.writes(name))),
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

// DocumentVersions counts the documents of all collections that have had several versions. It reads
// them all.
func (s *Store) DocumentVersions(ctx context.Context) ([]DocumentVersions, error) {
	var all []DocumentVersions
	for _, name := range slices.Sorted(maps.Keys(upgrades)) {
		cursor, err := s.users.Database().Collection(name).Aggregate(ctx, bson.A{mdb.Doc("$group", mdb.Doc("_id", "$v", "count", mdb.Doc("$sum", 1)))})
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
		v := DocumentVersions{Collection: name, Newest: s.writes(name), Counts: map[int]int{}}
		for _, g := range groups {
			v.Counts[g.Version] = g.Count
		}
		all = append(all, v)
	}
	return all, nil
}
