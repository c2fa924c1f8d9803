package sqlite

import (
	"context"
	"errors"
	"time"

	"plaza/id"
	"plaza/social"
	"plaza/storage/sqlite/internal/eventlog"
	"plaza/storage/sqlite/internal/sqldb"
)

var (
	putErasure = sqldb.Define(`INSERT INTO comment_erasures (user, up_to, started_at) VALUES (?, ?, ?)
		ON CONFLICT (user) DO UPDATE SET up_to = max(up_to, excluded.up_to)`)
	endErasure      = sqldb.Define(`DELETE FROM comment_erasures WHERE user = ? AND up_to <= ?`)
	erasure         = sqldb.Define(`SELECT up_to, started_at FROM comment_erasures WHERE user = ?`)
	erasures        = sqldb.Define(`SELECT user, up_to, started_at FROM comment_erasures WHERE user > x''`)
	commentsToErase = sqldb.Define(`SELECT id, post FROM comments INDEXED BY comments_by_author
		WHERE author = ? AND id <= ? ORDER BY id DESC LIMIT ?`)
	countToErase = sqldb.Define(`SELECT count(*) FROM comments INDEXED BY comments_by_author WHERE author = ? AND id <= ?`)
)

// toErase is a row of comment_erasures.
type toErase struct {
	user    social.UserID
	by      social.UserID // the user that events name; zero: none
	upTo    social.CommentID
	started time.Time
}

// EraseComments implements social.Comments. If ctx ends first, Work completes the erasure.
func (s *Store) EraseComments(ctx context.Context, user social.UserID, upTo social.CommentID, e social.Event) (int, error) {
	err := s.log.Update(ctx, func(tx *eventlog.Tx) error {
		if err := refuseDeleted(tx, user, social.ErrAccountGone); err != nil {
			return err
		}
		if _, err := tx.Exec(putErasure, user.Bytes(), upTo.Bytes(), time.Now().UnixMicro()); err != nil {
			return err
		}
		return tx.Append(e)
	})
	if err != nil {
		return 0, err
	}
	if err := s.erase(ctx, toErase{user: user, by: user, upTo: upTo}); err != nil {
		s.wake()
		return 0, err
	}
	return 0, nil
}

// erase deletes in chunks until no comment is left.
func (s *Store) erase(ctx context.Context, of toErase) error {
	for {
		left := false
		err := s.log.Update(ctx, func(tx *eventlog.Tx) (err error) {
			left, err = eraseSome(tx, of)
			return err
		})
		if err != nil || !left {
			return err
		}
	}
}

// eraseSome deletes the newest comments, and reports whether there may be more. If there are none, it
// ends the erasure.
func eraseSome(tx *eventlog.Tx, of toErase) (left bool, err error) {
	type row struct {
		comment social.CommentID
		post    social.PostID
	}
	rows, err := sqldb.All(tx, commentsToErase, func(scan sqldb.Scan) (r row, err error) {
		err = scan(sqldb.Into(&r.comment.ID), sqldb.Into(&r.post.ID))
		return r, err
	}, of.user.Bytes(), of.upTo.Bytes(), sqldb.Batch)
	if err != nil {
		return false, err
	}
	for _, r := range rows {
		if err := deleteComment(tx, r.comment, social.NewCommentErased(of.by, r.post, r.comment)); err != nil {
			return false, err
		}
	}
	if len(rows) == sqldb.Batch {
		return true, nil
	}
	_, err = tx.Exec(endErasure, of.user.Bytes(), of.upTo.Bytes())
	return false, err
}

// CommentErasure implements social.Comments.
func (s *Store) CommentErasure(ctx context.Context, user social.UserID) (social.Erasure, error) {
	return sqldb.Read(ctx, s.db, func(tx sqldb.Reader) (e social.Erasure, err error) {
		var upTo social.CommentID
		var started int64
		if err := sqldb.Known(tx.Row(erasure, []any{sqldb.Into(&upTo.ID), &started}, user.Bytes())); err != nil {
			return e, err
		}
		e.StartedAt = sqldb.MomentOf(started)
		_, err = tx.Row(countToErase, []any{&e.RemainingCount}, user.Bytes(), upTo.Bytes())
		return e, err
	})
}

func (s *Store) erasures(ctx context.Context) ([]toErase, error) {
	return sqldb.Read(ctx, s.db, func(tx sqldb.Reader) ([]toErase, error) {
		return sqldb.All(tx, erasures, func(scan sqldb.Scan) (of toErase, err error) {
			var started int64
			err = scan(sqldb.Into(&of.user.ID), sqldb.Into(&of.upTo.ID), &started)
			of.by, of.started = of.user, sqldb.MomentOf(started)
			return of, err
		})
	})
}

// eraseAll completes erasures that calls left unfinished.
func (s *Store) eraseAll(ctx context.Context) error {
	left, err := s.erasures(ctx)
	for _, of := range left {
		err = errors.Join(err, s.erase(ctx, of))
	}
	return err
}

func eraseCommentsBy(tx *eventlog.Tx, user social.UserID) (left bool, err error) {
	return eraseSome(tx, toErase{user: user, upTo: lastComment})
}

// lastComment sorts after all ids of comments.
var lastComment = social.CommentID{ID: id.ID(sqldb.TopKey[:len(id.ID{})])}
