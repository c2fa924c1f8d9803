package sqlite

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"plaza/social"
)

const commentColumns = `comments.id, comments.post, comments.parent, comments.slug, comments.path, comments.tree_path, comments.author,
	comments.text, comments.edited_at, comments.replies, comments.deleted`

var (
	insertComment = define(`INSERT INTO comments (id, post, parent, slug, path, tree_path, author, text, edited_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`)
	editComment    = define(`UPDATE comments SET text = ?, edited_at = ? WHERE id = ? AND deleted = 0`)
	buryComment    = define(`UPDATE comments SET deleted = 1, author = NULL, text = '', edited_at = 0 WHERE id = ?`)
	removeComment  = define(`DELETE FROM comments WHERE id = ?`)
	commentPlace   = define(`SELECT post, parent, replies, deleted FROM comments WHERE id = ?`)
	countReplies   = define(`UPDATE comments SET replies = replies + ? WHERE id = ?`)
	countComments  = define(`UPDATE posts SET comment_count = comment_count + ? WHERE id = ?`)
	commentsByID   = define(`SELECT ` + commentColumns + ` FROM comments WHERE id IN (SELECT unhex(value) FROM json_each(?))`)
	commentsBySlug = define(`SELECT ` + commentColumns + ` FROM comments WHERE (post, slug) IN (
		SELECT unhex(value ->> 0), value ->> 1 FROM json_each(?))`)

	threadByTime = defineDirected(`SELECT ` + commentColumns + ` FROM comments INDEXED BY comments_by_time
		WHERE post = ? AND id > ? AND id < ? ORDER BY id $order LIMIT ?`)
	threadByParent = defineDirected(`SELECT ` + commentColumns + ` FROM comments INDEXED BY comments_by_parent
		WHERE post = ? AND parent = ? AND id > ? AND id < ? ORDER BY id $order LIMIT ?`)
	threadAsTree = defineDirected(`SELECT ` + commentColumns + ` FROM comments INDEXED BY comments_by_tree
		WHERE post = ? AND tree_path >= ? AND tree_path < ? ORDER BY tree_path $order LIMIT ?`)

	commentsByAuthor = defineDirected(`SELECT ` + commentColumns + ` FROM comments INDEXED BY comments_by_author
		WHERE author = ? AND id > ? AND id < ? ORDER BY id $order LIMIT ?`)

	// This takes one seek in comments_live for each post, however long its thread is.
	latestComments = define(`SELECT ` + commentColumns + ` FROM json_each(?1) AS wanted CROSS JOIN comments
		WHERE comments.rowid IN (
			SELECT live.rowid FROM comments AS live INDEXED BY comments_live
			WHERE live.post = unhex(wanted.value) AND live.deleted = 0
				AND live.author NOT IN (SELECT unhex(value) FROM json_each(?2))
			ORDER BY live.id DESC LIMIT ?3)`)
)

// InsertComment implements social.Comments.
func (s *Store) InsertComment(ctx context.Context, c *social.Comment, e social.Event) error {
	stored := *c
	err := s.update(ctx, func(w *work) error {
		if err := w.refuseDeleted(c.Author, social.ErrAccountGone); err != nil {
			return err
		}
		if err := w.requirePlace(c); err != nil {
			return err
		}
		next, err := s.nextID(w, c.ID.ID)
		if err != nil {
			return err
		}
		if c.ID.IsZero() {
			stored.SetID(social.CommentID{ID: next})
			e.Comment = stored.ID
		}
		if err := w.addComment(&stored); err != nil {
			return err
		}
		return w.append(e)
	})
	if err == nil {
		c.ID, c.TreePath = stored.ID, stored.TreePath
	}
	return err
}

func (w *work) addComment(c *social.Comment) error {
	_, err := w.exec(insertComment, c.ID.Bytes(), c.Post.Bytes(), orNull(c.Parent.ID), c.Slug, c.Path, string(c.TreePath),
		orNull(c.Author.ID), c.Text, moment(c.EditedAt))
	if err != nil {
		return taken(err)
	}
	return w.countComment(c.Post, c.Parent, 1)
}

// requirePlace returns social.ErrNotFound unless the comment's post exists, and its parent is a
// live comment on that post.
func (w *work) requirePlace(c *social.Comment) error {
	if err := w.requirePost(c.Post); err != nil || c.Parent.IsZero() {
		return err
	}
	parent, err := w.place(c.Parent)
	if err != nil {
		return err
	}
	return known(parent.post == c.Post && !parent.deleted, nil)
}

// place is a comment's position in its thread.
type place struct {
	post    social.PostID
	parent  social.CommentID
	replies int
	deleted bool
}

func (w *work) place(id social.CommentID) (p place, err error) {
	err = known(w.row(commentPlace, []any{into(&p.post.ID), into(&p.parent.ID), &p.replies, &p.deleted}, id.Bytes()))
	return p, err
}

// countComment changes the counts of a comment's post and parent.
func (w *work) countComment(post social.PostID, parent social.CommentID, by int) error {
	if _, err := w.exec(countComments, by, post.Bytes()); err != nil {
		return err
	}
	return w.countReply(parent, by)
}

func (w *work) countReply(parent social.CommentID, by int) error {
	if parent.IsZero() {
		return nil
	}
	_, err := w.exec(countReplies, by, parent.Bytes())
	return err
}

// EditComment implements social.Comments.
func (s *Store) EditComment(ctx context.Context, id social.CommentID, text string, at time.Time, e social.Event) error {
	return s.update(ctx, func(w *work) error {
		rows, err := w.exec(editComment, text, moment(at), id.Bytes())
		if err := changed(rows, err, social.ErrNotFound); err != nil {
			return err
		}
		return w.append(e)
	})
}

// DeleteComment implements social.Comments.
func (s *Store) DeleteComment(ctx context.Context, id social.CommentID, e social.Event) error {
	return s.update(ctx, func(w *work) error { return w.deleteComment(id, e) })
}

func (w *work) deleteComment(id social.CommentID, e social.Event) error {
	at, err := w.place(id)
	if err != nil {
		return err
	}
	if at.deleted {
		return social.ErrNotFound
	}
	if _, err := w.exec(countComments, -1, at.post.Bytes()); err != nil {
		return err
	}
	if at.replies > 0 {
		_, err = w.exec(buryComment, id.Bytes())
	} else {
		err = w.prune(id, at.parent)
	}
	if err != nil {
		return err
	}
	return w.append(e)
}

// prune removes a comment without replies, and then each tombstone above it that has no replies
// left.
func (w *work) prune(id, parent social.CommentID) error {
	for {
		if _, err := w.exec(removeComment, id.Bytes()); err != nil || parent.IsZero() {
			return err
		}
		if err := w.countReply(parent, -1); err != nil {
			return err
		}
		above, err := w.place(parent)
		if err != nil || !above.deleted || above.replies > 0 {
			return err
		}
		id, parent = parent, above.parent
	}
}

// Comments implements social.Comments.
func (s *Store) Comments(ctx context.Context, ids []social.CommentID) (map[social.CommentID]*social.Comment, error) {
	return read(ctx, s, func(w *work) (map[social.CommentID]*social.Comment, error) {
		return byKey(w, commentsByID, func(scan scan) (social.CommentID, *social.Comment, error) {
			c, err := scanComment(scan)
			return c.ID, c, err
		}, hexList(ids))
	})
}

// CommentsBySlug implements social.Comments.
func (s *Store) CommentsBySlug(ctx context.Context, links []social.Permalink) (map[social.Permalink]*social.Comment, error) {
	pairs := make([][2]string, len(links))
	for i, link := range links {
		pairs[i] = [2]string{hexOf(link.Post), link.Slug}
	}
	list, err := json.Marshal(pairs)
	if err != nil {
		return nil, err
	}
	return read(ctx, s, func(w *work) (map[social.Permalink]*social.Comment, error) {
		return byKey(w, commentsBySlug, func(scan scan) (social.Permalink, *social.Comment, error) {
			c, err := scanComment(scan)
			return social.Permalink{Post: c.Post, Slug: c.Slug}, c, err
		}, string(list))
	})
}

// Thread implements social.Comments.
func (s *Store) Thread(ctx context.Context, lists []social.List[social.Thread]) (map[social.List[social.Thread]][]*social.Comment, error) {
	return pages(ctx, s, lists, func(w *work, list social.List[social.Thread]) ([]*social.Comment, error) {
		switch {
		case list.Of.Order == social.OrderThreaded:
			return w.tree(list.Of, list.Page)
		case list.Of.Parent.IsZero():
			sp := timeSpan(list.Of.Order, list.Page)
			return w.comments(sp, threadByTime, list.Of.Post.Bytes(), sp.low, sp.high, sp.limit)
		default:
			sp := timeSpan(list.Of.Order, list.Page)
			return w.comments(sp, threadByParent, list.Of.Post.Bytes(), list.Of.Parent.Bytes(), sp.low, sp.high, sp.limit)
		}
	})
}

// CommentsBy implements social.Comments.
func (s *Store) CommentsBy(ctx context.Context, lists []social.List[social.UserID]) (map[social.List[social.UserID]][]*social.Comment, error) {
	return pages(ctx, s, lists, func(w *work, list social.List[social.UserID]) ([]*social.Comment, error) {
		sp := descendingSpan(list.Page)
		return w.comments(sp, commentsByAuthor, list.Of.Bytes(), sp.low, sp.high, sp.limit)
	})
}

func timeSpan(order social.CommentOrder, p social.Page) span {
	if order == social.OrderNewest {
		return descendingSpan(p)
	}
	return ascendingSpan(p)
}

func (w *work) tree(of social.Thread, p social.Page) ([]*social.Comment, error) {
	sp := treeSpan(of.Under, p)
	return w.comments(sp, threadAsTree, of.Post.Bytes(), sp.low, sp.high, sp.limit)
}

// treeSpan is a page within a subtree. Tree paths consist of digits and lower-case letters: "~"
// sorts after all of them and "!" before, so path+"!" is the lowest bound that excludes the path
// itself. The low bound is part of the span.
func treeSpan(under social.Key, p social.Page) span {
	sp := ascendingSpan(p)
	low, high := string(under), string(under)+"~"
	if p.After != "" {
		low = max(low, string(p.After)+"!")
	}
	if p.Before != "" {
		high = min(high, string(p.Before))
	}
	sp.low, sp.high = low, high
	return sp
}

func (w *work) comments(sp span, list directed, args ...any) ([]*social.Comment, error) {
	found, err := all(w, list.along(sp), scanComment, args...)
	return inListOrder(sp, found), err
}

// LatestComments implements social.Comments.
func (s *Store) LatestComments(ctx context.Context, posts []social.PostID, without []social.UserID, n int) (map[social.PostID][]*social.Comment, error) {
	return read(ctx, s, func(w *work) (map[social.PostID][]*social.Comment, error) {
		return w.latestComments(posts, without, n)
	})
}

func (w *work) latestComments(posts []social.PostID, without []social.UserID, n int) (map[social.PostID][]*social.Comment, error) {
	latest := make(map[social.PostID][]*social.Comment, len(posts))
	if len(posts) == 0 {
		return latest, nil
	}
	found, err := all(w, latestComments, scanComment, hexList(unique(posts)), hexList(without), n)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(found, func(a, b *social.Comment) int { return a.ID.Compare(b.ID.ID) })
	for _, c := range found {
		latest[c.Post] = append(latest[c.Post], c)
	}
	return latest, nil
}

// unique removes duplicates.
func unique[K comparable](keys []K) []K {
	seen := make(map[K]bool, len(keys))
	kept := make([]K, 0, len(keys))
	for _, key := range keys {
		if !seen[key] {
			seen[key] = true
			kept = append(kept, key)
		}
	}
	return kept
}

func scanComment(scan scan) (*social.Comment, error) {
	c := &social.Comment{}
	var edited int64
	err := scan(into(&c.ID.ID), into(&c.Post.ID), into(&c.Parent.ID), &c.Slug, &c.Path, &c.TreePath, into(&c.Author.ID), &c.Text,
		&edited, &c.Replies, &c.Deleted)
	c.EditedAt = momentOf(edited)
	return c, err
}
