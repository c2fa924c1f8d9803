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
)

// Posts and comments get their ids inside the transaction that stores them, in the order of commits. The transaction first
// updates the document that remembers the newest serial (id.Serial): for posts the one document of sequences, for comments their
// post's, for circles, follows, blocks and mutes those of the users in whose lists they are. Two transactions that update the same document
// are in conflict, so one of them runs again behind the other.
// The time in an id is the primary's, and never before that of the last one: the clocks of Plaza's servers have no part in it.

// postSequence is the _id of the document of sequences from which posts get their ids.
const postSequence = "posts"

// serialDoc is what remembers the newest serial that was given: a document of sequences, or a part of a post or a user.
type serialDoc struct {
	LastSerial int64 `bson:"lastSerial"`
	Latest     []struct {
		ID social.CommentID `bson:"_id"`
	} `bson:"latest"` // of a post alone
}

// newest is the greatest serial among the newest comments of a post.
func (d *serialDoc) newest() (newest int64) {
	for _, c := range d.Latest {
		newest = max(newest, c.ID.Serial())
	}
	return newest
}

// serials gives n serials, all above floor and above those that were given before, and returns the first. It is the first
// command of a transaction. ErrNotFound: there is no such document, and upsert is not set.
func serials(ctx context.Context, c *mongo.Collection, name any, floor int64, n int, upsert bool) (first int64, err error) {
	set := mdb.Doc("lastSerial", mdb.Doc("$max", bson.A{"$lastSerial", floor}))
	if upsert {
		set = append(set, bson.E{Key: "v", Value: mdb.FirstVersion})
	}
	update := mdb.Pipeline{mdb.Doc("$set", set)}
	if n > 0 {
		now := mdb.Doc("$multiply", bson.A{mdb.Doc("$toLong", "$$NOW"), int64(id.SerialsPerMillisecond)})
		next := mdb.Doc("$max", bson.A{mdb.Doc("$add", bson.A{"$lastSerial", int64(1)}), now})
		update = append(update, mdb.Doc("$set", mdb.Doc("lastSerial", mdb.Doc("$add", bson.A{next, int64(n - 1)}))))
	}
	var d serialDoc
	err = mdb.OrNotFound(c.FindOneAndUpdate(ctx, mdb.Doc("_id", name), update, options.FindOneAndUpdate().SetUpsert(upsert).
		SetReturnDocument(options.After).SetProjection(mdb.Doc("lastSerial", 1, "latest._id", 1))).Decode(&d))
	if err != nil {
		return 0, mdb.OrRetry(err)
	}
	first = d.LastSerial - int64(n) + 1
	if newest := d.newest(); n > 0 && newest >= first {
		// The thread has comments from before posts remembered a serial.
		return serials(ctx, c, name, newest, n, upsert)
	}
	return first, nil
}

// serialFrom gives a serial that is at least this one, and above those that were given before.
func serialFrom(ctx context.Context, c *mongo.Collection, name any, least int64) (int64, error) {
	next := mdb.Doc("$max", bson.A{mdb.Doc("$add", bson.A{"$lastSerial", int64(1)}), least})
	var d serialDoc
	err := mdb.OrNotFound(c.FindOneAndUpdate(ctx, mdb.Doc("_id", name), mdb.Pipeline{mdb.Doc("$set", mdb.Doc("lastSerial", next))},
		options.FindOneAndUpdate().SetReturnDocument(options.After).SetProjection(mdb.Doc("lastSerial", 1))).Decode(&d))
	return d.LastSerial, err
}

// edgeID is the id of a new block or mute: the given one, if there is one; else one behind all blocks, mutes and follows in its owner's
// lists. ErrNotFound: there is no such user.
func (s *Store) edgeID(ctx context.Context, given social.EdgeID, owner social.UserID) (social.EdgeID, error) {
	if !given.IsZero() {
		return given, nil
	}
	serial, err := serials(ctx, s.users, owner, 0, 1, false)
	return social.EdgeID{ID: id.WithSerial(serial)}, err
}

// followID is the same for a follow, which is in the lists of two users.
func (s *Store) followID(ctx context.Context, given social.EdgeID, owner, other social.UserID) (social.EdgeID, error) {
	if !given.IsZero() {
		return given, nil
	}
	first, err := serials(ctx, s.users, owner, 0, 1, false)
	if err != nil {
		return given, err
	}
	serial, err := serialFrom(ctx, s.users, other, first)
	if err == nil && serial > first { // rare: the other is in two transactions of one millisecond
		_, err = serialFrom(ctx, s.users, owner, serial)
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
