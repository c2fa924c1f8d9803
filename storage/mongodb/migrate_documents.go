package mongodb

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// DocumentMigration says how to bring all documents to the newest versions.
type DocumentMigration struct {
	Batch    int  // documents that are read and written at a time; default: 500
	Rate     int  // documents a second at most; 0 for as many as can be
	DryRun   bool // read everything, write nothing
	Progress func(DocumentProgress)
}

// DocumentProgress says how far a collection is.
type DocumentProgress struct {
	Collection string
	Done       int // documents that were looked at, or lie before the place where an earlier run was stopped
	Total      int // about how many there are
	Upgraded   int // in this run
}

// DocumentVersions says how many documents of a collection have each version.
type DocumentVersions struct {
	Collection string
	Newest     int
	Counts     map[int]int // by version
}

const defaultEvolveBatch = 500

// positionDoc is the document "documentMigration" of settings: up to which _id each collection is done.
type positionDoc struct {
	After map[string]bson.RawValue `bson:"after"`
}

const positionSetting = "documentMigration"

// upgrades make the update that brings a document to the newest version. It writes only while the document still says
// what it was computed from.
var upgrades = map[string]func(bson.Raw) (*mongo.UpdateOneModel, error){
	"users": func(raw bson.Raw) (*mongo.UpdateOneModel, error) {
		var d userDoc
		if err := readDocument(raw, &d); err != nil {
			return nil, err
		}
		return upgrade(raw, doc("v", d.Version, "nameOrder", d.NameOrder), "name"), nil
	},
	"posts": func(raw bson.Raw) (*mongo.UpdateOneModel, error) {
		var d postDoc
		if err := readDocument(raw, &d); err != nil {
			return nil, err
		}
		return upgrade(raw, doc("v", d.Version, "detail", d.Detail), "revision"), nil
	},
	"postVersions": func(raw bson.Raw) (*mongo.UpdateOneModel, error) {
		var d versionDoc
		if err := readDocument(raw, &d); err != nil {
			return nil, err
		}
		return upgrade(raw, doc("v", d.Version, "detail", d.Detail)), nil
	},
	"reactions": upgradeMark, "votes": upgradeMark, "threadMutes": upgradeMark,
}

func upgradeMark(raw bson.Raw) (*mongo.UpdateOneModel, error) {
	var d markDoc
	if err := readDocument(raw, &d); err != nil {
		return nil, err
	}
	return upgrade(raw, doc("v", d.Version, "user", d.User)), nil
}

func upgrade(raw bson.Raw, set bson.D, unchanged ...string) *mongo.UpdateOneModel {
	filter := doc("_id", raw.Lookup("_id"), "v", raw.Lookup("v"))
	for _, field := range unchanged {
		filter = append(filter, bson.E{Key: field, Value: raw.Lookup(field)})
	}
	return mongo.NewUpdateOneModel().SetFilter(filter).SetUpdate(doc("$set", set))
}

// MigrateDocuments upgrades what older servers have written, while servers go on. It goes on where an earlier run was
// stopped, and begins anew where that one had ended.
func (s *Store) MigrateDocuments(ctx context.Context, m DocumentMigration) error {
	if m.Batch <= 0 {
		m.Batch = defaultEvolveBatch
	}
	var position positionDoc
	if !m.DryRun {
		if err := s.readPosition(ctx, &position); err != nil {
			return err
		}
	}
	pace := pace{rate: m.Rate, began: time.Now()}
	for _, name := range slices.Sorted(maps.Keys(upgrades)) {
		walk := evolution{s: s, m: m, c: s.users.Database().Collection(name), pace: &pace, after: position.After[name]}
		if err := walk.run(ctx); err != nil {
			return err
		}
	}
	if m.DryRun {
		return nil
	}
	return s.read(ctx, "settings", func(ctx context.Context) error {
		_, err := s.settings.DeleteOne(ctx, doc("_id", positionSetting))
		return err
	})
}

func (s *Store) readPosition(ctx context.Context, to *positionDoc) error {
	return s.read(ctx, "settings", func(ctx context.Context) error {
		err := s.settings.FindOne(ctx, doc("_id", positionSetting)).Decode(to)
		if errors.Is(err, mongo.ErrNoDocuments) {
			return nil
		}
		return err
	})
}

// evolution walks one collection by _id.
type evolution struct {
	s     *Store
	m     DocumentMigration
	c     *mongo.Collection
	pace  *pace
	after bson.RawValue // zero: from the start
	DocumentProgress
}

func (w *evolution) run(ctx context.Context) error {
	w.Collection = w.c.Name()
	err := w.s.read(ctx, "count", func(ctx context.Context) error {
		total, err := w.c.EstimatedDocumentCount(ctx)
		w.Total = int(total)
		if err == nil && w.after.Type != 0 {
			var before int64
			before, err = w.c.CountDocuments(ctx, doc("_id", doc("$lte", w.after)), options.Count().SetHint("_id_"))
			w.Done = int(before)
		}
		return err
	})
	for more := true; more && err == nil; {
		more, err = w.batch(ctx)
		if w.m.Progress != nil && err == nil {
			w.m.Progress(w.DocumentProgress)
		}
	}
	return err
}

// batch upgrades the next documents, and says whether there may be more.
func (w *evolution) batch(ctx context.Context) (more bool, err error) {
	err = w.s.read(ctx, "migrate documents", func(ctx context.Context) error {
		filter := bson.D{}
		if w.after.Type != 0 {
			filter = doc("_id", doc("$gt", w.after))
		}
		docs, err := findAll[bson.Raw](ctx, w.c, filter, w.m.Batch,
			options.Find().SetSort(doc("_id", 1)).SetLimit(int64(w.m.Batch)).SetHint("_id_"))
		if err != nil || len(docs) == 0 {
			return err
		}
		more = len(docs) == w.m.Batch
		if err := w.upgrade(ctx, docs); err != nil {
			return err
		}
		w.Done += len(docs)
		w.after = docs[len(docs)-1].Lookup("_id")
		return w.remember(ctx)
	})
	if err != nil {
		return false, err
	}
	return more, w.pace.wait(ctx, w.m.Batch)
}

// upgrade writes those of the documents that are older.
func (w *evolution) upgrade(ctx context.Context, docs []bson.Raw) error {
	var models []mongo.WriteModel
	for _, raw := range docs {
		if v, ok := raw.Lookup("v").AsInt64OK(); ok && int(v) >= newestVersions()[w.Collection] {
			continue
		}
		model, err := upgrades[w.Collection](raw)
		if err != nil {
			return err
		}
		models = append(models, model)
	}
	if w.m.DryRun || len(models) == 0 {
		w.Upgraded += len(models)
		return nil
	}
	result, err := w.c.BulkWrite(ctx, models, options.BulkWrite().SetOrdered(false))
	if err == nil {
		w.Upgraded += int(result.ModifiedCount)
	}
	return err
}

func (w *evolution) remember(ctx context.Context) error {
	if w.m.DryRun {
		return nil
	}
	_, err := w.s.settings.UpdateOne(ctx, doc("_id", positionSetting),
		doc("$set", doc("after."+w.Collection, w.after), "$setOnInsert", doc("v", version)), options.UpdateOne().SetUpsert(true))
	return err
}

// pace keeps work below a rate.
type pace struct {
	rate  int // a second; 0: no bound
	began time.Time
	done  int
}

func (p *pace) wait(ctx context.Context, done int) error {
	p.done += done
	if p.rate <= 0 {
		return ctx.Err()
	}
	due := p.began.Add(time.Duration(p.done) * time.Second / time.Duration(p.rate))
	rest(ctx, time.Until(due), nil)
	return ctx.Err()
}

// DocumentVersions counts the documents of all collections that have had several versions. It reads them all.
func (s *Store) DocumentVersions(ctx context.Context) ([]DocumentVersions, error) {
	var all []DocumentVersions
	newest := newestVersions()
	for _, name := range slices.Sorted(maps.Keys(newest)) {
		cursor, err := s.users.Database().Collection(name).Aggregate(ctx, bson.A{doc("$group", doc("_id", "$v", "count", doc("$sum", 1)))})
		if err != nil {
			return nil, translate(ctx, "count versions", err)
		}
		var groups []struct {
			Version int `bson:"_id"`
			Count   int `bson:"count"`
		}
		if err := cursor.All(ctx, &groups); err != nil {
			return nil, translate(ctx, "count versions", err)
		}
		v := DocumentVersions{Collection: name, Newest: newest[name], Counts: map[int]int{}}
		for _, g := range groups {
			v.Counts[g.Version] = g.Count
		}
		all = append(all, v)
	}
	return all, nil
}
