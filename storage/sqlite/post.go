package sqlite

import (
	"context"
	"strings"

	"plaza/batch"
	"plaza/social"
	"plaza/storage/sqlite/internal/eventlog"
	"plaza/storage/sqlite/internal/sqldb"
)

// postBatch is how many posts of a deleted user one transaction removes, after most of their rows.
const postBatch = 20

// postColumns are the columns that scanPost reads.
const postColumns = `posts.id, posts.author, posts.wall_owner, posts.audience, posts.audience_circles, posts.type, posts.detail,
	posts.edited_at, posts.edits, posts.revision, posts.comment_count, posts.reactions, posts.votes,
	posts.replies, posts.reply_circles, posts.comment_order, posts.muters`

var (
	insertPost = sqldb.Define(`INSERT INTO posts (id, author, wall_owner, audience, audience_circles, type, detail, edited_at, revision, votes,
		replies, reply_circles, comment_order) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
	updatePost = sqldb.Define(`UPDATE posts SET audience = ?, audience_circles = ?, type = ?, detail = ?, edited_at = ?, revision = ?,
		replies = ?, reply_circles = ?, comment_order = ? WHERE id = ? AND revision = ?`)
	insertVersion = sqldb.Define(`INSERT INTO post_versions (post, number, audience, audience_circles, type, detail, edited_at)
		VALUES (?, ?, ?, ?, ?, ?, ?)`)
	versionsByPost = sqldb.Define(`SELECT post, audience, audience_circles, type, detail, edited_at FROM post_versions
		WHERE post IN (SELECT unhex(value) FROM json_each(?)) ORDER BY post, number`)
	countEdit         = sqldb.Define(`UPDATE posts SET edits = edits + 1 WHERE id = ?`)
	deletePost        = sqldb.Define(`DELETE FROM posts WHERE id = ?`)
	takePost          = sqldb.Define(`DELETE FROM posts WHERE id = ? RETURNING author, audience, audience_circles`)
	postExists        = sqldb.Define(`SELECT 1 FROM posts WHERE id = ?`)
	postsByID         = sqldb.Define(`SELECT ` + postColumns + ` FROM posts WHERE id IN (SELECT unhex(value) FROM json_each(?))`)
	newestPosts       = sqldb.Define(`SELECT author, audience FROM posts INDEXED BY posts_by_time WHERE id > x'' ORDER BY id DESC LIMIT ?`)
	insertPostCircle  = sqldb.Define(`INSERT INTO post_circles (circle, post) VALUES (?, ?) ON CONFLICT DO NOTHING`)
	deletePostCircles = sqldb.Define(`DELETE FROM post_circles WHERE post = ?`)
	somePostsBy       = sqldb.Define(`SELECT id FROM posts INDEXED BY posts_by_author WHERE author = ? LIMIT ?`)
	someCommentsOn    = sqldb.Define(`DELETE FROM comments WHERE id IN (SELECT id FROM comments INDEXED BY comments_by_time WHERE post = ? LIMIT ?)`)
	someReactionsTo   = sqldb.Define(`DELETE FROM reactions WHERE (post, user) IN (SELECT post, user FROM reactions WHERE post = ? LIMIT ?)`)
	someVotesIn       = sqldb.Define(`DELETE FROM votes WHERE (post, user) IN (SELECT post, user FROM votes WHERE post = ? LIMIT ?)`)
	someMutesOf       = sqldb.Define(`DELETE FROM thread_mutes WHERE (post, user) IN (SELECT post, user FROM thread_mutes WHERE post = ? LIMIT ?)`)
	movePosts         = sqldb.Define(`UPDATE posts SET wall_owner = author, revision = revision + 1 WHERE id IN (
		SELECT id FROM posts INDEXED BY posts_by_wall WHERE wall_owner = ?1 AND author <> ?1 LIMIT ?2) RETURNING id`)
)

// InsertPost implements social.Posts. Counts start at zero, whatever p contains.
func (s *Store) InsertPost(ctx context.Context, p *social.Post, e social.Event) error {
	doc, err := encodePost(p.Audience, p.Content)
	if err != nil {
		return err
	}
	noVotes := ""
	if p.Content.Poll != nil {
		noVotes = "[" + strings.TrimSuffix(strings.Repeat("0,", len(p.Content.Poll.Options)), ",") + "]"
	}
	stored := *p
	err = s.log.Update(ctx, func(tx *eventlog.Tx) error {
		if err := refuseDeleted(tx, p.Author, social.ErrAccountGone); err != nil {
			return err
		}
		if err := refuseDeleted(tx, p.WallOwner, social.ErrNotFound); err != nil {
			return err
		}
		next, err := s.nextID(tx, p.ID.ID)
		if err != nil {
			return err
		}
		if p.ID.IsZero() {
			stored.ID = social.PostID{ID: next}
			e.Post = stored.ID
		}
		_, err = tx.Exec(insertPost, stored.ID.Bytes(), p.Author.Bytes(), p.WallOwner.Bytes(), string(p.Audience.Kind), doc.circles,
			string(doc.kind), doc.detail, sqldb.Moment(p.EditedAt), p.Revision, noVotes, replyKind(p), sqldb.JoinIDs(p.Replies.Circles), commentOrder(p))
		if err != nil {
			return err
		}
		if err := listPost(tx, &stored); err != nil {
			return err
		}
		if social.IsToClose(p) {
			if err := openPoll(tx, &stored); err != nil {
				return err
			}
		}
		return tx.Append(e)
	})
	if err == nil {
		p.ID = stored.ID
	}
	return err
}

// UpdatePost implements social.Posts.
func (s *Store) UpdatePost(ctx context.Context, p *social.Post, replaced *social.Version, e social.Event) error {
	return s.log.Update(ctx, func(tx *eventlog.Tx) error { return replacePost(tx, p, replaced, e) })
}

// replacePost is UpdatePost in a transaction.
func replacePost(tx *eventlog.Tx, p *social.Post, replaced *social.Version, e social.Event) error {
	doc, err := encodePost(p.Audience, p.Content)
	if err != nil {
		return err
	}
	rows, err := tx.Exec(updatePost, string(p.Audience.Kind), doc.circles, string(doc.kind), doc.detail, sqldb.Moment(p.EditedAt),
		p.Revision, replyKind(p), sqldb.JoinIDs(p.Replies.Circles), commentOrder(p), p.ID.Bytes(), p.Revision-1)
	if err != nil {
		return err
	}
	if rows == 0 {
		return conflictOf(tx, p.ID)
	}
	if err := keepVersion(tx, p, replaced); err != nil {
		return err
	}
	if _, err := tx.Exec(deletePostCircles, p.ID.Bytes()); err != nil {
		return err
	}
	if err := listPost(tx, p); err != nil {
		return err
	}
	return tx.Append(e)
}

// keepVersion appends the version that an update has replaced, if any. Its number is the update's
// revision, which increases by one each time.
func keepVersion(tx *eventlog.Tx, p *social.Post, replaced *social.Version) error {
	if replaced == nil {
		return nil
	}
	doc, err := encodePost(replaced.Audience, replaced.Content)
	if err != nil {
		return err
	}
	_, err = tx.Exec(insertVersion, p.ID.Bytes(), p.Revision, string(replaced.Audience.Kind), doc.circles, string(doc.kind), doc.detail,
		sqldb.Moment(replaced.EditedAt))
	if err != nil {
		return err
	}
	_, err = tx.Exec(countEdit, p.ID.Bytes())
	return err
}

// Histories implements social.Posts.
func (s *Store) Histories(ctx context.Context, posts []social.PostID) (map[social.PostID][]social.Version, error) {
	return sqldb.Read(ctx, s.db, func(tx sqldb.Reader) (map[social.PostID][]social.Version, error) {
		histories := map[social.PostID][]social.Version{}
		err := tx.Each(versionsByPost, func(scan sqldb.Scan) (bool, error) {
			post, version, err := scanVersion(scan)
			histories[post] = append(histories[post], version)
			return true, err
		}, sqldb.HexList(posts))
		return histories, err
	})
}

func scanVersion(scan sqldb.Scan) (post social.PostID, v social.Version, err error) {
	var detail []byte
	var kind social.PostType
	var edited int64
	if err := scan(sqldb.Into(&post.ID), &v.Audience.Kind, sqldb.IntoIDs(&v.Audience.Circles), &kind, &detail, &edited); err != nil {
		return post, v, err
	}
	v.EditedAt = sqldb.MomentOf(edited)
	v.Content, err = decodeContent(kind, detail)
	return post, v, err
}

// conflictOf explains why no row had the expected revision: it returns social.ErrNotFound or
// social.ErrConflict.
func conflictOf(tx sqldb.Reader, post social.PostID) error {
	if err := requirePost(tx, post); err != nil {
		return err
	}
	return social.ErrConflict
}

func requirePost(tx sqldb.Reader, post social.PostID) error {
	return sqldb.Known(tx.Exists(postExists, post.Bytes()))
}

// listPost adds the post to the circles that may see it, for Incoming.
func listPost(tx *eventlog.Tx, p *social.Post) error {
	if p.Audience.Kind != social.AudienceListed {
		return nil
	}
	for _, circle := range p.Audience.Circles {
		if _, err := tx.Exec(insertPostCircle, circle.Bytes(), p.ID.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

// DeletePost implements social.Posts. Foreign keys also remove versions, comments, reactions and
// votes.
func (s *Store) DeletePost(ctx context.Context, id social.PostID, e social.Event) error {
	return s.log.Update(ctx, func(tx *eventlog.Tx) error { return removePost(tx, id, e) })
}

// removePost is DeletePost in a transaction.
func removePost(tx *eventlog.Tx, id social.PostID, e social.Event) error {
	err := sqldb.Known(tx.Row(takePost, []any{sqldb.Into(&e.Author.ID), &e.Audience.Kind, sqldb.IntoIDs(&e.Audience.Circles)}, id.Bytes()))
	if err != nil {
		return err
	}
	return tx.Append(e)
}

// Posts implements social.Posts.
func (s *Store) Posts(ctx context.Context, ids []social.PostID) (map[social.PostID]*social.Post, error) {
	return sqldb.Read(ctx, s.db, func(tx sqldb.Reader) (map[social.PostID]*social.Post, error) {
		posts, err := readPosts(tx, ids)
		if err != nil {
			return nil, err
		}
		found := make(map[social.PostID]*social.Post, len(posts))
		for _, p := range posts {
			found[p.ID] = p
		}
		return found, nil
	})
}

// PublicAuthors implements social.Posts.
func (s *Store) PublicAuthors(ctx context.Context, newest int) ([]social.UserID, error) {
	return sqldb.Read(ctx, s.db, func(tx sqldb.Reader) ([]social.UserID, error) {
		var authors []social.UserID
		err := tx.Each(newestPosts, func(scan sqldb.Scan) (bool, error) {
			var author social.UserID
			var audience social.AudienceKind
			err := scan(sqldb.Into(&author.ID), &audience)
			if audience == social.AudiencePublic {
				authors = append(authors, author)
			}
			return true, err
		}, newest)
		return batch.Unique(authors), err
	})
}

// readPosts reads posts by id, in no particular order, with their latest comments.
func readPosts(tx sqldb.Reader, ids []social.PostID) ([]*social.Post, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	posts, err := sqldb.All(tx, postsByID, scanPost, sqldb.HexList(ids))
	if err != nil {
		return nil, err
	}
	return posts, fillLatest(tx, posts)
}

// fillLatest reads the newest comments of all posts that have any, in one statement.
func fillLatest(tx sqldb.Reader, posts []*social.Post) error {
	var talked []social.PostID
	for _, p := range posts {
		if p.CommentCount > 0 {
			talked = append(talked, p.ID)
		}
	}
	latest, err := readLatest(tx, talked, nil, social.PreviewSize)
	if err != nil {
		return err
	}
	for _, p := range posts {
		p.Latest = latest[p.ID]
	}
	return nil
}

func scanPost(scan sqldb.Scan) (*social.Post, error) {
	p := &social.Post{}
	var detail, reactions, votes []byte
	var kind social.PostType
	var edited int64
	err := scan(sqldb.Into(&p.ID.ID), sqldb.Into(&p.Author.ID), sqldb.Into(&p.WallOwner.ID), &p.Audience.Kind, sqldb.IntoIDs(&p.Audience.Circles), &kind, &detail, &edited,
		&p.Edits, &p.Revision, &p.CommentCount, &reactions, &votes, &p.Replies.Kind, sqldb.IntoIDs(&p.Replies.Circles), &p.Order, &p.Muters)
	if err != nil {
		return nil, err
	}
	p.EditedAt = sqldb.MomentOf(edited)
	if p.Content, err = decodeContent(kind, detail); err != nil {
		return nil, err
	}
	if err := unmarshal(reactions, &p.Reactions); err != nil {
		return nil, err
	}
	return p, unmarshal(votes, &p.Votes)
}

// deletePostsBy removes some of the user's posts, or a part of the rows of a post that has many.
func deletePostsBy(tx *eventlog.Tx, user social.UserID) (left bool, err error) {
	posts, err := sqldb.All(tx, somePostsBy, scanPostID, user.Bytes(), postBatch)
	if err != nil {
		return false, err
	}
	for _, post := range posts {
		if left, err := sqldb.DeleteSome(tx.Tx, post, someCommentsOn, someReactionsTo, someVotesIn, someMutesOf); err != nil || left {
			return true, err
		}
		if _, err := tx.Exec(deletePost, post.Bytes()); err != nil {
			return false, err
		}
		if err := tx.Append(social.NewPostErased(post)); err != nil {
			return false, err
		}
	}
	return len(posts) == postBatch, nil
}

func scanPostID(scan sqldb.Scan) (post social.PostID, err error) {
	err = scan(sqldb.Into(&post.ID))
	return post, err
}

// movePostsOn moves posts by others from the user's wall to their authors' walls. A concurrent edit
// then fails with a conflict of revisions.
func movePostsOn(tx *eventlog.Tx, user social.UserID) (left bool, err error) {
	posts, err := sqldb.All(tx, movePosts, scanPostID, user.Bytes(), sqldb.Batch)
	if err != nil {
		return false, err
	}
	for _, post := range posts {
		if err := tx.Append(social.NewPostReduced(post)); err != nil {
			return false, err
		}
	}
	return len(posts) == sqldb.Batch, nil
}
