package sqlite

import (
	"context"
	"time"

	"plaza/social"
	"plaza/storage/sqlite/internal/eventlog"
	"plaza/storage/sqlite/internal/sqldb"
)

var (
	insertComment = sqldb.Define(`INSERT INTO comments (id, post, parent, slug, path, tree_path, author, text, edited_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`)
	editComment   = sqldb.Define(`UPDATE comments SET text = ?, edited_at = ? WHERE id = ? AND deleted = 0 AND hidden = 0`)
	hideComment   = sqldb.Define(`UPDATE comments SET hidden = ? WHERE id = ? AND deleted = 0`)
	buryComment   = sqldb.Define(`UPDATE comments SET deleted = 1, hidden = 0, author = NULL, text = '', edited_at = 0 WHERE id = ?`)
	removeComment = sqldb.Define(`DELETE FROM comments WHERE id = ?`)
	commentPlace  = sqldb.Define(`SELECT post, parent, replies, deleted, hidden FROM comments WHERE id = ?`)
	countReplies  = sqldb.Define(`UPDATE comments SET replies = replies + ? WHERE id = ?`)
	countComments = sqldb.Define(`UPDATE posts SET comment_count = comment_count + ? WHERE id = ?`)
)

// InsertComment implements social.Comments.
func (s *Store) InsertComment(ctx context.Context, c *social.Comment, e social.Event) error {
	stored := *c
	err := s.log.Update(ctx, func(tx *eventlog.Tx) error {
		if err := refuseDeleted(tx, c.Author, social.ErrAccountGone); err != nil {
			return err
		}
		if err := requirePlace(tx, c); err != nil {
			return err
		}
		next, err := s.nextID(tx, c.ID.ID)
		if err != nil {
			return err
		}
		if c.ID.IsZero() {
			stored.SetID(social.CommentID{ID: next})
			e.Comment = stored.ID
		}
		if err := addComment(tx, &stored); err != nil {
			return err
		}
		return tx.Append(e)
	})
	if err == nil {
		*c = stored
	}
	return err
}

func addComment(tx *eventlog.Tx, c *social.Comment) error {
	_, err := tx.Exec(insertComment, c.ID.Bytes(), c.Post.Bytes(), sqldb.OrNull(c.Parent.ID), c.Slug, c.Path, string(c.TreePath),
		sqldb.OrNull(c.Author.ID), c.Text, sqldb.Moment(c.EditedAt))
	if err != nil {
		return sqldb.Taken(err)
	}
	return countComment(tx, c.Post, c.Parent, 1)
}

// requirePlace returns social.ErrNotFound unless the comment's post exists, and its parent is a
// live comment on that post, and not hidden.
func requirePlace(tx sqldb.Reader, c *social.Comment) error {
	if err := requirePost(tx, c.Post); err != nil || c.Parent.IsZero() {
		return err
	}
	parent, err := placeOf(tx, c.Parent)
	if err != nil {
		return err
	}
	return sqldb.Known(parent.post == c.Post && !parent.deleted && !parent.hidden, nil)
}

// place is a comment's position in its thread.
type place struct {
	post    social.PostID
	parent  social.CommentID
	replies int
	deleted bool
	hidden  bool
}

func placeOf(tx sqldb.Reader, id social.CommentID) (p place, err error) {
	err = sqldb.Known(tx.Row(commentPlace, []any{sqldb.Into(&p.post.ID), sqldb.Into(&p.parent.ID), &p.replies, &p.deleted, &p.hidden}, id.Bytes()))
	return p, err
}

// countComment changes the counts of a comment's post and parent.
func countComment(tx *eventlog.Tx, post social.PostID, parent social.CommentID, by int) error {
	if _, err := tx.Exec(countComments, by, post.Bytes()); err != nil {
		return err
	}
	return countReply(tx, parent, by)
}

func countReply(tx *eventlog.Tx, parent social.CommentID, by int) error {
	if parent.IsZero() {
		return nil
	}
	_, err := tx.Exec(countReplies, by, parent.Bytes())
	return err
}

// EditComment implements social.Comments.
func (s *Store) EditComment(ctx context.Context, id social.CommentID, text string, at time.Time, e social.Event) error {
	return s.log.Update(ctx, func(tx *eventlog.Tx) error {
		rows, err := tx.Exec(editComment, text, sqldb.Moment(at), id.Bytes())
		if err := sqldb.Changed(rows, err, social.ErrNotFound); err != nil {
			return err
		}
		return tx.Append(e)
	})
}

// DeleteComment implements social.Comments.
func (s *Store) DeleteComment(ctx context.Context, id social.CommentID, e social.Event) error {
	return s.log.Update(ctx, func(tx *eventlog.Tx) error { return deleteComment(tx, id, e) })
}

func deleteComment(tx *eventlog.Tx, id social.CommentID, e social.Event) error {
	at, err := placeOf(tx, id)
	if err != nil {
		return err
	}
	if at.deleted {
		return social.ErrNotFound
	}
	if _, err := tx.Exec(countComments, -1, at.post.Bytes()); err != nil {
		return err
	}
	var removal social.Removal
	if at.replies > 0 {
		_, err = tx.Exec(buryComment, id.Bytes())
	} else {
		removal, err = pruneThread(tx, id, at.parent)
	}
	if err != nil {
		return err
	}
	for _, e := range removal.Events(e) {
		if err := tx.Append(e); err != nil {
			return err
		}
	}
	return nil
}

// pruneThread removes a comment without replies, and then each tombstone above it that has no
// replies left.
func pruneThread(tx *eventlog.Tx, id, parent social.CommentID) (r social.Removal, err error) {
	for {
		if _, err := tx.Exec(removeComment, id.Bytes()); err != nil || parent.IsZero() {
			return r, err
		}
		if err := countReply(tx, parent, -1); err != nil {
			return r, err
		}
		above, err := placeOf(tx, parent)
		if err != nil || !above.deleted || above.replies > 0 {
			r.Above = parent
			return r, err
		}
		r.Tombstones = append(r.Tombstones, parent)
		id, parent = parent, above.parent
	}
}
