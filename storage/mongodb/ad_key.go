package mongodb

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// adKeyDoc is a document of adKeys.
type adKeyDoc struct {
	Name    string `bson:"_id"`
	Version int    `bson:"v"`
	Key     []byte `bson:"key"`
}

// SigningKey implements ads.Keys.
func (a *adStore) SigningKey(ctx context.Context, fresh []byte) ([]byte, error) {
	var d adKeyDoc
	err := a.db.read(ctx, "signing key", func(ctx context.Context) error {
		return retry(ctx, func() error {
			return upserted(a.keys.FindOneAndUpdate(ctx, doc("_id", "signing"), doc("$setOnInsert", doc("v", version, "key", fresh)),
				options.FindOneAndUpdate().SetUpsert(true).SetReturnDocument(options.After)).Decode(&d))
		})
	})
	return d.Key, err
}
