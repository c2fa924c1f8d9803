package idempotency

import (
	"bytes"
	"context"
	"errors"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
)

// Store implements social.IdempotencyKeys on a database.
type Store struct {
	calls *mdb.DB
	keys  *mongo.Collection
}

var _ social.IdempotencyKeys = (*Store)(nil)

// New returns the store for the idempotency keys in a database, which uses calls for its reads and
// writes.
func New(db *mongo.Database, calls *mdb.DB) *Store {
	return &Store{calls: calls, keys: db.Collection(collection)}
}

// Indexes returns the declared indexes of the collection.
func (s *Store) Indexes() map[*mongo.Collection][]mongo.IndexModel {
	return map[*mongo.Collection][]mongo.IndexModel{s.keys: {mdb.ExpiringIndex("expires", 0)}}
}

// ShardKeys returns the shard keys of the collections.
func ShardKeys() map[string]bson.D {
	return map[string]bson.D{collection: mdb.Doc("_id", "hashed")} // user and key
}

// BeginAttempt implements social.IdempotencyKeys with one command, which changes nothing if the key
// is not free.
func (s *Store) BeginAttempt(ctx context.Context, a social.Attempt, lease time.Duration) (answer []byte, err error) {
	var d document
	err = s.calls.Read(ctx, "begin attempt", func(ctx context.Context) error {
		take := options.FindOneAndUpdate().SetUpsert(true).SetReturnDocument(options.After).SetProjection(mdb.Doc(
			"fingerprint", 1, "attempt", 1, "effect", 1, "answer", 1, "isOver", isOver))
		return mdb.Retry(ctx, func() error {
			return mdb.OrRetry(s.keys.FindOneAndUpdate(ctx, mdb.Doc("_id", keyOf(a)), taking(a, lease), take).Decode(&d))
		})
	})
	switch {
	case err != nil:
		return nil, err
	case !bytes.Equal(d.Fingerprint.Data, a.Fingerprint[:]):
		return nil, social.ErrKeyReused
	case d.Answer != nil:
		return d.Answer, nil
	case d.Attempt.ID == a.ID:
		return nil, nil
	case d.IsOver:
		return nil, social.ErrAnswerLost
	}
	return nil, social.ErrKeyInUse
}

// isOver is true if an attempt's lease has ended, or the attempt itself has: a missing field is
// less than any time.
var isOver = mdb.Doc("$lte", bson.A{"$until", "$$NOW"})

// taking returns the update that gives a key to an attempt if the key is free.
func taking(a social.Attempt, lease time.Duration) mdb.Pipeline {
	taken := mdb.Doc(
		"_id", "$_id", "v", mdb.FirstVersion, "fingerprint", bson.Binary{Data: a.Fingerprint[:]}, "attempt", attemptID{a.ID},
		"until", later(lease), "expires", later(social.AnswerLifetime))
	isFree := mdb.Doc("$and", bson.A{
		isOver,
		mdb.Doc("$not", bson.A{"$effect"}),
		mdb.Doc("$eq", bson.A{mdb.Doc("$type", "$answer"), "missing"}),
	})
	return mdb.Pipeline{mdb.Doc("$replaceWith", mdb.Doc("$cond", bson.A{isFree, taken, "$$ROOT"}))}
}

// later returns the time after a duration from now, by the database's clock.
func later(by time.Duration) bson.D {
	return mdb.Doc("$add", bson.A{"$$NOW", by.Milliseconds()})
}

// EndAttempt implements social.IdempotencyKeys.
func (s *Store) EndAttempt(ctx context.Context, a social.Attempt, answer []byte) error {
	end := mdb.Doc("$unset", mdb.Doc("until", 1))
	if answer != nil {
		end = append(end, bson.E{Key: "$set", Value: mdb.Doc("answer", bson.Binary{Data: answer})})
	}
	return s.calls.Read(ctx, "end attempt", func(ctx context.Context) error {
		err := s.change(ctx, a, end)
		if !errors.Is(err, social.ErrAttemptOver) {
			return err
		}
		err = s.keys.FindOne(ctx, mdb.Doc("_id", keyOf(a)), options.FindOne().SetProjection(mdb.Doc("_id", 1))).Err()
		switch {
		case errors.Is(err, mongo.ErrNoDocuments):
			return nil
		case err != nil:
			return err
		}
		return social.ErrAttemptOver
	})
}

// TakeEffect stores that the attempts of a transaction's context have had an effect.
func (s *Store) TakeEffect(ctx context.Context) error {
	for _, a := range social.AttemptsOf(ctx) {
		if err := s.change(ctx, a, mdb.Doc("$set", mdb.Doc("effect", true))); err != nil {
			return err
		}
	}
	return nil
}

// change updates the document of an attempt that has its key.
func (s *Store) change(ctx context.Context, a social.Attempt, update bson.D) error {
	err := mdb.UpdateOne(ctx, s.keys, mdb.Doc("_id", keyOf(a), "attempt", attemptID{a.ID}), update)
	if errors.Is(err, social.ErrNotFound) {
		return social.ErrAttemptOver
	}
	return err
}

// Forget removes all of a user's keys.
func (s *Store) Forget(ctx context.Context, user social.UserID) error {
	_, err := s.keys.DeleteMany(ctx, mdb.Doc("_id", mdb.PairRange(user.ID)))
	return err
}
