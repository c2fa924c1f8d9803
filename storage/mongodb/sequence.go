package mongodb

import (
	"context"
	"errors"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
)

// postSequence is the _id of the document in "sequences" that numbers posts.
const postSequence = "posts"

// sequenceDoc is the document that numbers posts, as readers of the newest posts need it.
type sequenceDoc struct {
	LastSerial int64 `bson:"lastSerial"`
	Backdated  int64 `bson:"backdated"` // counts transactions with a post that was not newer than all others
}

func (d *sequenceDoc) SetField(r *mdb.Reader, field []byte, v bsoncore.Value) {
	switch string(field) {
	case "lastSerial":
		r.Long(v, &d.LastSerial)
	case "backdated":
		r.Long(v, &d.Backdated)
	}
}

// countBackdated counts a transaction whose oldest post has this serial, if it is not newer than all
// earlier posts: it comes from a demo or an import, and brings its own id.
func countBackdated(oldest int64) bson.E {
	isOlder := mdb.Doc("$lte", bson.A{oldest, "$lastSerial"})
	return bson.E{Key: "backdated", Value: mdb.Doc("$add", bson.A{
		mdb.Doc("$ifNull", bson.A{"$backdated", int64(0)}), mdb.Doc("$cond", bson.A{isOlder, int64(1), int64(0)}),
	})}
}

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
