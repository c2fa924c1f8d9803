package evolution

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"plaza/storage/mongodb/internal/cluster"
	"plaza/storage/mongodb/internal/mdb"
	"plaza/storage/mongodb/internal/migrate"
)

// record is a document of settings: how far the migration of
// documents is, or that it has ended.
type record struct {
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

// setting is the document of settings that is a record.
const setting = "documentMigration"

// errBusy says that another process is upgrading documents.
var errBusy = errors.New("documents are being upgraded by another process just now")

// claim makes this process the one that migrates documents.
func (d *Documents) claim(ctx context.Context, recorded *record, waiting func(process string)) error {
	holder, err := d.c.Server.TakeTurn(ctx, setting, waiting)
	if err != nil {
		return err
	}
	if holder != nil {
		return fmt.Errorf("%w (%s)", errBusy, holder.Process)
	}
	return d.read(ctx, recorded)
}

// change changes what is recorded. migrate.ErrOvertaken: this process was
// silent for so long that another one goes on.
func (d *Documents) change(ctx context.Context, update bson.D) error {
	return d.c.DB.Read(ctx, "settings", func(ctx context.Context) error {
		result, err := d.c.Settings.UpdateOne(ctx, mdb.Doc("_id", setting, "driver", d.c.Self), update)
		if err == nil && result.MatchedCount == 0 {
			return migrate.ErrOvertaken
		}
		return err
	})
}

func (d *Documents) read(ctx context.Context, to *record) error {
	*to = record{}
	return d.c.DB.Read(ctx, "settings", func(ctx context.Context) error {
		err := d.c.Settings.FindOne(ctx, mdb.Doc("_id", setting)).Decode(to)
		if errors.Is(err, mongo.ErrNoDocuments) {
			return nil
		}
		return err
	})
}

// Reached returns the versions that all documents had when an upgrade of them ended last.
func (d *Documents) Reached(ctx context.Context) (cluster.Versions, error) {
	var recorded record
	err := d.read(ctx, &recorded)
	return recorded.Newest, err
}
