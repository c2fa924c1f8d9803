package sqlite

import (
	"context"
	"encoding/json"
	"slices"

	"plaza/batch"
	"plaza/social"
	"plaza/storage/sqlite/internal/sqldb"
)

const commentColumns = `comments.id, comments.post, comments.parent, comments.slug, comments.path, comments.tree_path, comments.author,
	comments.text, comments.edited_at, comments.replies, comments.deleted, comments.hidden`

var (
	commentsByID   = sqldb.Define(`SELECT ` + commentColumns + ` FROM comments WHERE id IN (SELECT unhex(value) FROM json_each(?))`)
	commentsBySlug = sqldb.Define(`SELECT ` + commentColumns + ` FROM comments WHERE (post, slug) IN (
		SELECT unhex(value ->> 0), value ->> 1 FROM json_each(?))`)
	threadByTime = sqldb.DefineDirected(`SELECT ` + commentColumns + ` FROM comments INDEXED BY comments_by_time
		WHERE post = ? AND id > ? AND id < ? ORDER BY id $order LIMIT ?`)
	threadByParent = sqldb.DefineDirected(`SELECT ` + commentColumns + ` FROM comments INDEXED BY comments_by_parent
		WHERE post = ? AND parent = ? AND id > ? AND id < ? ORDER BY id $order LIMIT ?`)
	threadAsTree = sqldb.DefineDirected(`SELECT ` + commentColumns + ` FROM comments INDEXED BY comments_by_tree
		WHERE post = ? AND tree_path >= ? AND tree_path < ? ORDER BY tree_path $order LIMIT ?`)
	commentsByAuthor = sqldb.DefineDirected(`SELECT ` + commentColumns + ` FROM comments INDEXED BY comments_by_author
		WHERE author = ? AND id > ? AND id < ? ORDER BY id $order LIMIT ?`)
	// This takes one seek in comments_live for each post, however long its thread is.
	latestComments = sqldb.Define(`SELECT ` + commentColumns + ` FROM json_each(?1) AS wanted CROSS JOIN comments
		WHERE comments.rowid IN (
			SELECT live.rowid FROM comments AS live INDEXED BY comments_live
			WHERE live.post = unhex(wanted.value) AND live.deleted = 0 AND live.hidden = 0
				AND live.author NOT IN (SELECT unhex(value) FROM json_each(?2))
			ORDER BY live.id DESC LIMIT ?3)`)
)

// Comments implements social.Comments.
func (s *Store) Comments(ctx context.Context, ids []social.CommentID) (map[social.CommentID]*social.Comment, error) {
	return sqldb.Read(ctx, s.db, func(tx sqldb.Reader) (map[social.CommentID]*social.Comment, error) {
		return sqldb.ByKey(tx, commentsByID, func(scan sqldb.Scan) (social.CommentID, *social.Comment, error) {
			c, err := scanComment(scan)
			return c.ID, c, err
		}, sqldb.HexList(ids))
	})
}

// CommentsBySlug implements social.Comments.
func (s *Store) CommentsBySlug(ctx context.Context, links []social.Permalink) (map[social.Permalink]*social.Comment, error) {
	pairs := make([][2]string, len(links))
	for i, link := range links {
		pairs[i] = [2]string{sqldb.Hex(link.Post), link.Slug}
	}
	list, err := json.Marshal(pairs)
	if err != nil {
		return nil, err
	}
	return sqldb.Read(ctx, s.db, func(tx sqldb.Reader) (map[social.Permalink]*social.Comment, error) {
		return sqldb.ByKey(tx, commentsBySlug, func(scan sqldb.Scan) (social.Permalink, *social.Comment, error) {
			c, err := scanComment(scan)
			return social.Permalink{Post: c.Post, Slug: c.Slug}, c, err
		}, string(list))
	})
}

// Thread implements social.Comments.
func (s *Store) Thread(ctx context.Context, lists []social.List[social.Thread]) (map[social.List[social.Thread]][]*social.Comment, error) {
	return sqldb.Pages(ctx, s.db, lists, func(tx sqldb.Reader, list social.List[social.Thread]) ([]*social.Comment, error) {
		switch {
		case list.Of.Order == social.OrderThreaded:
			return readTree(tx, list.Of, list.Page)
		case list.Of.Parent.IsZero():
			sp := timeSpan(list.Of.Order, list.Page)
			return readComments(tx, sp, threadByTime, list.Of.Post.Bytes(), sp.Low, sp.High, sp.Limit)
		default:
			sp := timeSpan(list.Of.Order, list.Page)
			return readComments(tx, sp, threadByParent, list.Of.Post.Bytes(), list.Of.Parent.Bytes(), sp.Low, sp.High, sp.Limit)
		}
	})
}

// CommentsBy implements social.Comments.
func (s *Store) CommentsBy(ctx context.Context, lists []social.List[social.UserID]) (map[social.List[social.UserID]][]*social.Comment, error) {
	return sqldb.Pages(ctx, s.db, lists, func(tx sqldb.Reader, list social.List[social.UserID]) ([]*social.Comment, error) {
		sp := sqldb.Descending(list.Page)
		return readComments(tx, sp, commentsByAuthor, list.Of.Bytes(), sp.Low, sp.High, sp.Limit)
	})
}

func timeSpan(order social.CommentOrder, p social.Page) sqldb.Span {
	if order == social.OrderNewest {
		return sqldb.Descending(p)
	}
	return sqldb.Ascending(p)
}

func readTree(tx sqldb.Reader, of social.Thread, p social.Page) ([]*social.Comment, error) {
	sp := treeSpan(of.Under, p)
	return readComments(tx, sp, threadAsTree, of.Post.Bytes(), sp.Low, sp.High, sp.Limit)
}

// treeSpan is a page within a subtree. Tree paths consist of digits and lower-case letters: "~"
// sorts after all of them and "!" before, so path+"!" is the lowest bound that excludes the path
// itself. The low bound is part of the span.
func treeSpan(under social.Key, p social.Page) sqldb.Span {
	sp := sqldb.Ascending(p)
	low, high := string(under), string(under)+"~"
	if p.After != "" {
		low = max(low, string(p.After)+"!")
	}
	if p.Before != "" {
		high = min(high, string(p.Before))
	}
	sp.Low, sp.High = low, high
	return sp
}

func readComments(tx sqldb.Reader, sp sqldb.Span, list sqldb.Directed, args ...any) ([]*social.Comment, error) {
	found, err := sqldb.All(tx, list.Along(sp), scanComment, args...)
	return sqldb.InListOrder(sp, found), err
}

// LatestComments implements social.Comments.
func (s *Store) LatestComments(ctx context.Context, posts []social.PostID, without []social.UserID, n int) (map[social.PostID][]*social.Comment, error) {
	return sqldb.Read(ctx, s.db, func(tx sqldb.Reader) (map[social.PostID][]*social.Comment, error) {
		return readLatest(tx, posts, without, n)
	})
}

func readLatest(tx sqldb.Reader, posts []social.PostID, without []social.UserID, n int) (map[social.PostID][]*social.Comment, error) {
	latest := make(map[social.PostID][]*social.Comment, len(posts))
	if len(posts) == 0 {
		return latest, nil
	}
	found, err := sqldb.All(tx, latestComments, scanComment, sqldb.HexList(batch.Unique(posts)), sqldb.HexList(without), n)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(found, func(a, b *social.Comment) int { return a.ID.Compare(b.ID.ID) })
	for _, c := range found {
		latest[c.Post] = append(latest[c.Post], c)
	}
	return latest, nil
}

func scanComment(scan sqldb.Scan) (*social.Comment, error) {
	c := &social.Comment{}
	var edited int64
	err := scan(sqldb.Into(&c.ID.ID), sqldb.Into(&c.Post.ID), sqldb.Into(&c.Parent.ID), &c.Slug, &c.Path, &c.TreePath, sqldb.Into(&c.Author.ID), &c.Text,
		&edited, &c.Replies, &c.Deleted, &c.Hidden)
	c.EditedAt = sqldb.MomentOf(edited)
	return c, err
}
