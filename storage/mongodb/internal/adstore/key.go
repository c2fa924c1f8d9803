package adstore

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/storage/mongodb/internal/mdb"
)

// keyDoc is a document of adKeys.
type keyDoc struct {
	Name    string `bson:"_id"`
	Version int    `bson:"v"`
	Key     []byte `bson:"key"`
}

// signingKey is the id of the only key.
const signingKey = "signing"

// SigningKey implements ads.Keys.
func (a *Store) SigningKey(ctx context.Context, fresh []byte) ([]byte, error) {
	var d keyDoc
	err := a.calls.Read(ctx, "signing key", func(ctx context.Context) error {
		return mdb.Retry(ctx, func() error {
			return mdb.OrRetry(a.keys.FindOneAndUpdate(ctx, mdb.Doc("_id", signingKey), mdb.Doc("$setOnInsert", mdb.Doc("v", mdb.FirstVersion, "key", fresh)),
				options.FindOneAndUpdate().SetUpsert(true).SetReturnDocument(options.After)).Decode(&d))
		})
	})
	return d.Key, err
}
