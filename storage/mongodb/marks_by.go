package mongodb

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
)

// ReactionsBy implements social.Marks.
func (s *Store) ReactionsBy(ctx context.Context, user social.UserID, after social.PostID, limit int) ([]social.Mark[social.ReactionKind], error) {
	return marksBy(ctx, s, s.reactions, user, after, limit, func(d *markDoc) social.ReactionKind { return d.Kind })
}

// VotesBy implements social.Marks.
func (s *Store) VotesBy(ctx context.Context, user social.UserID, after social.PostID, limit int) ([]social.Mark[int], error) {
	return marksBy(ctx, s, s.votes, user, after, limit, func(d *markDoc) int { return d.Option })
}

// ThreadsMutedBy implements social.Marks.
func (s *Store) ThreadsMutedBy(ctx context.Context, user social.UserID, after social.PostID, limit int) ([]social.Mark[bool], error) {
	return marksBy(ctx, s, s.threadMutes, user, after, limit, func(*markDoc) bool { return true })
}

// marksBy reads marks in the order of _id, which is post and user.
func marksBy[T any](ctx context.Context, s *Store, c *mongo.Collection, user social.UserID, after social.PostID, limit int, value func(*markDoc) T) (all []social.Mark[T], err error) {
	behind := mdb.Doc("user", user, "_id", mdb.Doc("$gt", mdb.PairKey(after.ID, mdb.LastID)))
	inOrder := options.Find().SetSort(mdb.Doc("_id", 1)).SetLimit(int64(limit)).SetHint(byUserID)
	err = s.db.Read(ctx, c.Name()+" of a user", func(ctx context.Context) error {
		docs, err := mdb.FindAll[markDoc](ctx, c, behind, limit, inOrder)
		all = mdb.Map(docs, func(d *markDoc) social.Mark[T] { return social.Mark[T]{Post: d.post(), Value: value(d)} })
		return err
	})
	return all, err
}
