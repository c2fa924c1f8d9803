package evolution

import (
	"context"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/storage/mongodb/internal/mdb"
	"plaza/storage/mongodb/internal/migrate"
	"plaza/storage/mongodb/internal/wait"
)

// upgradeTries is how often a document is read again if it changes during its upgrade, after longer
// and longer pauses: about a second in all.
const upgradeTries = 20

// walk upgrades one collection in the order of _id.
type walk struct {
	d     *Documents
	m     Migration
	c     *mongo.Collection
	to    int // the version
	pace  migrate.Pace
	after bson.RawValue // zero: from the start
	Progress
}

func (w *walk) run(ctx context.Context) error {
	err := w.d.c.DB.Read(ctx, "count", func(ctx context.Context) error {
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

func (w *walk) show() {
	if w.m.Progress != nil {
		w.m.Progress(w.Progress)
	}
}

// batch upgrades the next documents. It reports whether there may be more.
func (w *walk) batch(ctx context.Context) (more bool, err error) {
	var docs []bson.Raw
	err = w.d.c.DB.Read(ctx, "migrate documents", func(ctx context.Context) error {
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

// upgrade writes those of the documents that are older. If some were changed since they were read,
// it reads them again.
func (w *walk) upgrade(ctx context.Context, docs []bson.Raw) error {
	for try := range upgradeTries {
		wait.For(ctx, time.Duration(try)*5*time.Millisecond, nil)
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
	return nil // a server of the older version keeps changing them: the next run upgrades the rest
}

// models returns the updates of those documents that are older, and their ids.
func (w *walk) models(docs []bson.Raw) (models []mongo.WriteModel, ids []bson.RawValue, err error) {
	for _, raw := range docs {
		if v, ok := raw.Lookup("v").AsInt64OK(); ok && int(v) >= w.to {
			continue
		}
		model, err := w.d.c.Upgrades[w.Collection](raw, w.to)
		if err != nil {
			return nil, nil, err
		}
		models, ids = append(models, model), append(ids, raw.Lookup("_id"))
	}
	return models, ids, nil
}

func (w *walk) remember(ctx context.Context) error {
	if w.m.DryRun {
		return nil
	}
	at := positionDoc{Version: w.to, After: w.after, Done: w.Done, Total: w.Total}
	return w.d.change(ctx, mdb.Doc("$set", mdb.Doc("walks."+w.Collection, at)))
}
