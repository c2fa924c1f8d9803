package mongodb

import (
	"context"
	"errors"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/id"
	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
	"plaza/storage/mongodb/internal/serials"
)

// postSequence is the _id of the document of sequences from which posts get their ids.
const postSequence = "posts"

// edgeID is the id of a new block or mute: the given one, if there is one; else one behind all blocks, mutes and follows in its owner's
// lists. ErrNotFound: there is no such user.
func (s *Store) edgeID(ctx context.Context, given social.EdgeID, owner social.UserID) (social.EdgeID, error) {
	if !given.IsZero() {
		return given, nil
	}
	serial, err := serials.Next(ctx, s.users, owner, 0, 1, false)
	return social.EdgeID{ID: id.WithSerial(serial)}, err
}

// followID is the same for a follow, which is in the lists of two users.
func (s *Store) followID(ctx context.Context, given social.EdgeID, owner, other social.UserID) (social.EdgeID, error) {
	if !given.IsZero() {
		return given, nil
	}
	first, err := serials.Next(ctx, s.users, owner, 0, 1, false)
	if err != nil {
		return given, err
	}
	serial, err := serials.AtLeast(ctx, s.users, other, first)
	if err == nil && serial > first { // rare: the other is in two transactions of one millisecond
		_, err = serials.AtLeast(ctx, s.users, owner, serial)
	}
	return social.EdgeID{ID: id.WithSerial(serial)}, err
}

// startSequence lets posts begin behind those of a database that is older than sequences.
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
