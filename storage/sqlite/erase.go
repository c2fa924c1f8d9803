package sqlite

import (
	"context"
	"errors"
	"time"

	"plaza/id"
	"plaza/social"
)

var (
	putErasure = define(`INSERT INTO comment_erasures (user, up_to, started_at) VALUES (?, ?, ?)
		ON CONFLICT (user) DO UPDATE SET up_to = max(up_to, excluded.up_to)`)
	endErasure      = define(`DELETE FROM comment_erasures WHERE user = ? AND up_to <= ?`)
	erasure         = define(`SELECT up_to, started_at FROM comment_erasures WHERE user = ?`)
	erasures        = define(`SELECT user, up_to, started_at FROM comment_erasures WHERE user > x''`)
	commentsToErase = define(`SELECT id, post FROM comments INDEXED BY comments_by_author
		WHERE author = ? AND id <= ? ORDER BY id DESC LIMIT ?`)
	countToErase = define(`SELECT count(*) FROM comments INDEXED BY comments_by_author WHERE author = ? AND id <= ?`)
)

// eraseBatch is how many comments one transaction erases. Other writers wait for it, so it is
// small.
const eraseBatch = 200

// toErase is a row of comment_erasures.
type toErase struct {
	user    social.UserID
	by      social.UserID // the user that events name; zero: none
	upTo    social.CommentID
	started time.Time
}

// EraseComments implements social.Comments. If ctx ends first, Work completes the erasure.
func (s *Store) EraseComments(ctx context.Context, user social.UserID, upTo social.CommentID, e social.Event) (int, error) {
	err := s.update(ctx, func(w *work) error {
		if err := w.refuseDeleted(user, social.ErrAccountGone); err != nil {
			return err
		}
		if _, err := w.exec(putErasure, user.Bytes(), upTo.Bytes(), time.Now().UnixMicro()); err != nil {
			return err
		}
		return w.append(e)
	})
	if err != nil {
		return 0, err
	}
	if err := s.erase(ctx, toErase{user: user, by: user, upTo: upTo}); err != nil {
		s.wakeWorker()
		return 0, err
	}
	return 0, nil
}

// erase deletes in chunks until no comment is left.
func (s *Store) erase(ctx context.Context, of toErase) error {
	for {
		left := false
		err := s.update(ctx, func(w *work) (err error) {
			left, err = w.eraseSome(of)
			return err
		})
		if err != nil || !left {
			return err
		}
	}
}

// eraseSome deletes the newest comments, and says whether there may be more. If there are none, it
// ends the erasure.
func (w *work) eraseSome(of toErase) (left bool, err error) {
	type row struct {
		comment social.CommentID
		post    social.PostID
	}
	rows, err := all(w, commentsToErase, func(scan scan) (r row, err error) {
		err = scan(into(&r.comment.ID), into(&r.post.ID))
		return r, err
	}, of.user.Bytes(), of.upTo.Bytes(), eraseBatch)
	if err != nil {
		return false, err
	}
	for _, r := range rows {
		e := social.Event{
			ID: social.EventID{ID: id.New()}, Kind: social.EventCommentDeleted, Actor: of.by, Target: of.by, Post: r.post, Comment: r.comment,
		}
		if err := w.deleteComment(r.comment, e); err != nil {
			return false, err
		}
	}
	if len(rows) == eraseBatch {
		return true, nil
	}
	_, err = w.exec(endErasure, of.user.Bytes(), of.upTo.Bytes())
	return false, err
}

// CommentErasure implements social.Comments.
func (s *Store) CommentErasure(ctx context.Context, user social.UserID) (social.Erasure, error) {
	return read(ctx, s, func(w *work) (e social.Erasure, err error) {
		var upTo social.CommentID
		var started int64
		if err := known(w.row(erasure, []any{into(&upTo.ID), &started}, user.Bytes())); err != nil {
			return e, err
		}
		e.StartedAt = momentOf(started)
		_, err = w.row(countToErase, []any{&e.RemainingCount}, user.Bytes(), upTo.Bytes())
		return e, err
	})
}

func (s *Store) erasures(ctx context.Context) ([]toErase, error) {
	return read(ctx, s, func(w *work) ([]toErase, error) {
		return all(w, erasures, func(scan scan) (of toErase, err error) {
			var started int64
			err = scan(into(&of.user.ID), into(&of.upTo.ID), &started)
			of.by, of.started = of.user, momentOf(started)
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
