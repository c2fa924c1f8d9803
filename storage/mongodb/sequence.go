package mongodb

import (
	"context"
	"errors"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
)

// postSequence is the _id of the document in "sequences" that numbers posts.
const postSequence = "posts"

// startSequence creates the sequence if it is missing. In a database that is older than sequences,
// it continues after the newest post.
func (s *Store) startSequence(ctx context.Context) error {
	ctx, cancel := s.db.Limit(ctx)
	defer cancel()
	err := s.sequences.FindOne(ctx, mdb.Doc("_id", postSequence)).Err()
	if !errors.Is(err, mongo.ErrNoDocuments) {
		return mdb.Translate(ctx, "sequences", err)
	}
	var last struct {
		Seq social.PostID `bson:"seq"`
	}
	err = s.posts.FindOne(ctx, bson.D{}, options.FindOne().SetSort(mdb.Doc("_id", -1)).SetHint("_id_").
		SetProjection(mdb.Doc("seq", 1))).Decode(&last)
	if err != nil && !errors.Is(err, mongo.ErrNoDocuments) {
		return mdb.Translate(ctx, "sequences", err)
	}
	return mdb.Translate(ctx, "sequences", mdb.Retry(ctx, func() error {
		_, err := s.sequences.UpdateOne(ctx, mdb.Doc("_id", postSequence),
			mdb.Doc("$max", mdb.Doc("lastSerial", last.Seq.Serial()), "$set", mdb.Doc("v", mdb.FirstVersion)), options.UpdateOne().SetUpsert(true))
		return mdb.OrRetry(err)
	}))
}
