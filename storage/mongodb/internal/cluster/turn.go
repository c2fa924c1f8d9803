package cluster

import (
	"context"
	"errors"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/storage/mongodb/internal/mdb"
)

// turnDoc is a document of "settings" that names the server whose turn it is.
type turnDoc struct {
	Driver string `bson:"driver"` // a server's id; "": none
}

// TakeTurn takes the turn with that name for this server. If another living server has it, TakeTurn
// returns that server as the holder. While it waits to see whether the holder is alive, it calls
// waiting (optional) with the name of its process.
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

// takeTurnFrom takes the turn from a dead server, or from none (""). It returns false if another
// server was faster.
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

// EndTurn releases the turn for other servers.
func (r *roster) EndTurn(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.timeout)
	defer cancel()
	_, err := r.settings.UpdateOne(ctx, mdb.Doc("_id", name, "driver", r.ID), mdb.Doc("$unset", mdb.Doc("driver", 1)))
	return mdb.Translate(ctx, "end a turn", err)
}
