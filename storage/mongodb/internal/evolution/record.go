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

// record is a document of "settings": the progress of the migration of documents, or its
// completion.
type record struct {
	Driver   string                 `bson:"driver"`   // the server that runs it; "": none
	Walks    map[string]positionDoc `bson:"walks"`    // by collection; nil: no migration runs
	Finished time.Time              `bson:"finished"` // when the last one was completed
	Newest   cluster.Versions       `bson:"newest"`   // the versions that the last one reached
}

// positionDoc is the progress of a collection to a version.
type positionDoc struct {
	Version int           `bson:"version"`
	After   bson.RawValue `bson:"after"` // the _id up to which all documents are done
	Done    int           `bson:"done"`
	Total   int           `bson:"total"`
}

// setting is the _id of the record in "settings".
const setting = "documentMigration"

// errBusy means that another process is upgrading documents.
var errBusy = errors.New("another process is upgrading documents now")

// claim takes the turn to migrate documents for this process.
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

// change changes the record. It returns migrate.ErrOvertaken if another process has taken over,
// because this one sent no heartbeats for too long.
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
