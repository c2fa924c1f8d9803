package cluster

import (
	"context"
	"errors"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/storage/mongodb/internal/mdb"
)

// turnDoc is a document of settings whose driver does something that only one server at a time may
// do.
type turnDoc struct {
	Driver string `bson:"driver"` // a server's id; "": none
}

// TakeTurn makes this server the driver of the document of settings with that name, unless a living
// server is: that is the holder then. It tells waiting (optional) of a server that may be dead,
// while it makes sure.
func (r *roster) TakeTurn(ctx context.Context, name string, waiting func(process string)) (holder *Server, err error) {
	for {
		d, err := r.readTurn(ctx, name)
		if err != nil {
			return nil, err
		}
		if holder, err = r.IsAlive(ctx, d.Driver, waiting); holder != nil || err != nil {
			return holder, err
		}
		if taken, err := r.takeTurnFrom(ctx, name, d.Driver); taken || err != nil {
			return nil, err
		}
	}
}

func (r *roster) readTurn(ctx context.Context, name string) (d turnDoc, err error) {
	err = r.DB.Read(ctx, "settings", func(ctx context.Context) error {
		err := r.settings.FindOne(ctx, mdb.Doc("_id", name)).Decode(&d)
		if errors.Is(err, mongo.ErrNoDocuments) {
			return nil
		}
		return err
	})
	return d, err
}

// takeTurnFrom takes the turn from a dead server, or from none (""). It fails where another server
// was quicker.
func (r *roster) takeTurnFrom(ctx context.Context, name, driver string) (taken bool, err error) {
	err = r.DB.Read(ctx, "take a turn", func(ctx context.Context) error {
		result, err := r.settings.UpdateOne(ctx, mdb.Doc("_id", name, "driver", mdb.Doc("$in", bson.A{driver, nil})),
			mdb.Doc("$set", mdb.Doc("driver", r.ID), "$setOnInsert", mdb.Doc("v", mdb.FirstVersion)), options.UpdateOne().SetUpsert(true))
		if mongo.IsDuplicateKeyError(err) {
			return nil
		}
		taken = err == nil && result.MatchedCount+result.UpsertedCount == 1
		return err
	})
	return taken, err
}

// EndTurn lets other servers have the turn.
func (r *roster) EndTurn(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.timeout)
	defer cancel()
	_, err := r.settings.UpdateOne(ctx, mdb.Doc("_id", name, "driver", r.ID), mdb.Doc("$unset", mdb.Doc("driver", 1)))
	return mdb.Translate(ctx, "end a turn", err)
}
