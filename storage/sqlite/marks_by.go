package sqlite

import (
	"context"

	"plaza/social"
	"plaza/storage/sqlite/internal/sqldb"
)

// The tables have no row ids, so their indexes on the user contain the post, and are in its order.
var (
	reactionsBy = sqldb.Define(`SELECT post, kind FROM reactions INDEXED BY reactions_by_user WHERE user = ? AND post > ? ORDER BY post LIMIT ?`)
	votesBy     = sqldb.Define(`SELECT post, option FROM votes INDEXED BY votes_by_user WHERE user = ? AND post > ? ORDER BY post LIMIT ?`)
	mutesBy     = sqldb.Define(`SELECT post, 1 FROM thread_mutes INDEXED BY thread_mutes_by_user WHERE user = ? AND post > ? ORDER BY post LIMIT ?`)
)

// ReactionsBy implements social.Marks.
func (s *Store) ReactionsBy(ctx context.Context, user social.UserID, after social.PostID, limit int) ([]social.Mark[social.ReactionKind], error) {
	return marksBy[social.ReactionKind](ctx, s, reactionsBy, user, after, limit)
}

// VotesBy implements social.Marks.
func (s *Store) VotesBy(ctx context.Context, user social.UserID, after social.PostID, limit int) ([]social.Mark[int], error) {
	return marksBy[int](ctx, s, votesBy, user, after, limit)
}

// ThreadsMutedBy implements social.Marks.
func (s *Store) ThreadsMutedBy(ctx context.Context, user social.UserID, after social.PostID, limit int) ([]social.Mark[bool], error) {
	return marksBy[bool](ctx, s, mutesBy, user, after, limit)
}

func marksBy[T any](ctx context.Context, s *Store, st *sqldb.Statement, user social.UserID, after social.PostID, limit int) ([]social.Mark[T], error) {
	return sqldb.Read(ctx, s.db, func(tx sqldb.Reader) ([]social.Mark[T], error) {
		return sqldb.All(tx, st, func(scan sqldb.Scan) (m social.Mark[T], err error) {
			err = scan(sqldb.Into(&m.Post.ID), &m.Value)
			return m, err
		}, user.Bytes(), after.Bytes(), limit)
	})
}
