package sqlite

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"plaza/id"
	"plaza/social"
)

// Other writers wait for a transaction, so each one is small. deleteBatch is how many rows of a
// deleted user one transaction removes. postBatch is how many posts it removes, after most of their
// rows; logBatch how many entries of the event log it searches.
const (
	deleteBatch = 200
	postBatch   = 20
	logBatch    = 5_000
)

var (
	isDeleted       = define(`SELECT 1 FROM deleted_users WHERE id = ?`)
	isEitherDeleted = define(`SELECT 1 FROM deleted_users WHERE id IN (?, ?)`)
	userExistedOnce = define(`SELECT 1 FROM users WHERE id = ?1 UNION ALL SELECT 1 FROM deleted_users WHERE id = ?1`)
	markDeleted     = define(`INSERT INTO deleted_users (id, deleted_at) VALUES (?, ?)`)
	isDeleting      = define(`SELECT 1 FROM deleted_users WHERE id = ? AND done = 0`)
	deletionsLeft   = define(`SELECT id, deleted_at FROM deleted_users INDEXED BY deleted_users_left WHERE done = 0 AND deleted_at > 0 ORDER BY deleted_at`)
	endDeletion     = define(`UPDATE deleted_users SET done = 1 WHERE id = ?`)
	deleteUserRow   = define(`DELETE FROM users WHERE id = ?`)

	someFollowers = define(`SELECT follower FROM follows INDEXED BY follows_by_followed WHERE followed = ? LIMIT ?`)
	someFollowed  = define(`SELECT followed FROM follows INDEXED BY follows_by_follower WHERE follower = ? LIMIT ?`)
	someBlocks    = define(`DELETE FROM blocks WHERE (blocker, blocked) IN (
		SELECT blocker, blocked FROM blocks INDEXED BY blocks_by_blocker WHERE blocker = ? LIMIT ?)`)
	someBlockers = define(`DELETE FROM blocks WHERE (blocker, blocked) IN (
		SELECT blocker, blocked FROM blocks INDEXED BY blocks_by_blocked WHERE blocked = ? LIMIT ?)`)
	someMutes = define(`DELETE FROM mutes WHERE (muter, muted) IN (
		SELECT muter, muted FROM mutes INDEXED BY mutes_by_muter WHERE muter = ? LIMIT ?)`)
	someMuters = define(`DELETE FROM mutes WHERE (muter, muted) IN (
		SELECT muter, muted FROM mutes INDEXED BY mutes_by_muted WHERE muted = ? LIMIT ?)`)
	someCircles = define(`DELETE FROM circles WHERE id IN (
		SELECT id FROM circles INDEXED BY circles_by_owner WHERE owner = ? LIMIT ?)`)
	someProfileValues = define(`DELETE FROM profile_values WHERE (user, property) IN (
		SELECT user, property FROM profile_values WHERE user = ? LIMIT ?)`)

	somePostsBy     = define(`SELECT id FROM posts INDEXED BY posts_by_author WHERE author = ? LIMIT ?`)
	someCommentsOn  = define(`DELETE FROM comments WHERE id IN (SELECT id FROM comments INDEXED BY comments_by_time WHERE post = ? LIMIT ?)`)
	someReactionsTo = define(`DELETE FROM reactions WHERE (post, user) IN (SELECT post, user FROM reactions WHERE post = ? LIMIT ?)`)
	someVotesIn     = define(`DELETE FROM votes WHERE (post, user) IN (SELECT post, user FROM votes WHERE post = ? LIMIT ?)`)
	someMutesOf     = define(`DELETE FROM thread_mutes WHERE (post, user) IN (SELECT post, user FROM thread_mutes WHERE post = ? LIMIT ?)`)
	movePosts       = define(`UPDATE posts SET wall_owner = author, revision = revision + 1 WHERE id IN (
		SELECT id FROM posts INDEXED BY posts_by_wall WHERE wall_owner = ?1 AND author <> ?1 LIMIT ?2)`)

	someReactionsBy = define(`SELECT post FROM reactions INDEXED BY reactions_by_user WHERE user = ? LIMIT ?`)
	someVotesBy     = define(`SELECT post FROM votes INDEXED BY votes_by_user WHERE user = ? LIMIT ?`)
	someMutesBy     = define(`SELECT post FROM thread_mutes INDEXED BY thread_mutes_by_user WHERE user = ? LIMIT ?`)
	deleteVote      = define(`DELETE FROM votes WHERE post = ? AND user = ?`)

	logLeft = define(`SELECT coalesce(log_up_to, (SELECT max(seq) FROM events)) FROM deleted_users WHERE id = ?`)
	cutLog  = define(`DELETE FROM events WHERE seq > ?1 AND seq <= ?2 AND (actor = ?3 OR target = ?3)
		AND kind NOT IN ('user.deleted', 'session.ended')`)
	noteInLog = define(`UPDATE deleted_users SET log_up_to = ? WHERE id = ?`)
)

// refuseDeleted returns an error if a user has deleted their account. There is only one writing
// connection, so nothing of theirs is stored after the deletion.
func (w *work) refuseDeleted(user social.UserID, refusal error) error {
	deleted, err := w.exists(isDeleted, user.Bytes())
	if err == nil && deleted {
		return refusal
	}
	return err
}

// DeleteUser implements social.Users.
func (s *Store) DeleteUser(ctx context.Context, user social.UserID, e social.Event) error {
	err := s.update(ctx, func(w *work) error {
		rows, err := w.exec(deleteUserRow, user.Bytes())
		if err := changed(rows, err, social.ErrNotFound); err != nil {
			return err
		}
		if _, err := w.exec(markDeleted, user.Bytes(), time.Now().UnixMicro()); err != nil {
			return err
		}
		if err := w.endSessions(user, [32]byte{}, social.AllSessions); err != nil {
			return err
		}
		return w.appendWith(social.AroundChanged(user), e)
	})
	if err == nil {
		s.wakeWorker()
	}
	return err
}

// IsDeleting implements social.Users.
func (s *Store) IsDeleting(ctx context.Context, user social.UserID) (bool, error) {
	return read(ctx, s, func(w *work) (bool, error) { return w.exists(isDeleting, user.Bytes()) })
}

// toDelete is a row of deleted_users whose work is not done.
type toDelete struct {
	user  social.UserID
	since time.Time
}

func (s *Store) deletions(ctx context.Context) ([]toDelete, error) {
	return read(ctx, s, func(w *work) ([]toDelete, error) {
		return all(w, deletionsLeft, func(scan scan) (of toDelete, err error) {
			var since int64
			err = scan(into(&of.user.ID), &since)
			of.since = momentOf(since)
			return of, err
		})
	})
}

// deleteAll removes the data of all deleted users.
func (s *Store) deleteAll(ctx context.Context) error {
	left, err := s.deletions(ctx)
	for _, of := range left {
		err = errors.Join(err, s.deleteLeft(ctx, of.user))
	}
	return err
}

// deleteLeft removes a user's data in chunks, one transaction each. It keeps no record of its
// progress but looks for what is left, so it can be interrupted anywhere.
func (s *Store) deleteLeft(ctx context.Context, user social.UserID) error {
	removals := []func(*work, social.UserID) (bool, error){
		(*work).cutFollows, (*work).cutOtherEdges, (*work).deletePostsBy, (*work).movePostsOn, (*work).eraseCommentsBy,
		(*work).takeBackMarks, (*work).forgetNotifications, (*work).forgetKeys, (*work).deleteOwn, (*work).forgetInLog,
	}
	for _, remove := range removals {
		for left := true; left; {
			err := s.update(ctx, func(w *work) (err error) {
				left, err = remove(w, user)
				return err
			})
			if err != nil {
				return err
			}
		}
	}
	return s.update(ctx, func(w *work) error {
		_, err := w.exec(endDeletion, user.Bytes())
		return err
	})
}

// cutFollows ends some of the user's follows in both directions, as Unfollow does. Like all these
// removals, it says whether there may be more.
func (w *work) cutFollows(user social.UserID) (left bool, err error) {
	followers, err := all(w, someFollowers, scanUserID, user.Bytes(), deleteBatch)
	if err != nil {
		return false, err
	}
	for _, follower := range followers {
		if _, err := w.leaveAll(follower, user); err != nil {
			return false, err
		}
	}
	followed, err := all(w, someFollowed, scanUserID, user.Bytes(), deleteBatch)
	if err != nil {
		return false, err
	}
	for _, other := range followed {
		if _, err := w.leaveAll(user, other); err != nil {
			return false, err
		}
	}
	return max(len(followers), len(followed)) == deleteBatch, nil
}

func (w *work) cutOtherEdges(user social.UserID) (left bool, err error) {
	return w.deleteSome(user, someBlocks, someBlockers, someMutes, someMuters)
}

// deleteSome runs deletions that take an id and the maximum number of rows to remove.
func (w *work) deleteSome(of rawID, deletions ...*statement) (left bool, err error) {
	for _, st := range deletions {
		rows, err := w.exec(st, of.Bytes(), deleteBatch)
		if err != nil {
			return false, err
		}
		left = left || rows == deleteBatch
	}
	return left, nil
}

// deletePostsBy removes some of the user's posts, or a part of the rows of a post that has many.
func (w *work) deletePostsBy(user social.UserID) (left bool, err error) {
	posts, err := all(w, somePostsBy, scanPostID, user.Bytes(), postBatch)
	if err != nil {
		return false, err
	}
	for _, post := range posts {
		if left, err := w.deleteSome(post, someCommentsOn, someReactionsTo, someVotesIn, someMutesOf); err != nil || left {
			return true, err
		}
		if _, err := w.exec(deletePost, post.Bytes()); err != nil {
			return false, err
		}
		e := social.Event{ID: social.EventID{ID: id.New()}, Kind: social.EventPostDeleted, Post: post}
		if err := w.append(e); err != nil {
			return false, err
		}
	}
	return len(posts) == postBatch, nil
}

func scanPostID(scan scan) (post social.PostID, err error) {
	err = scan(into(&post.ID))
	return post, err
}

// movePostsOn moves posts by others from the user's wall to their authors' walls. A concurrent edit
// then fails with a conflict of revisions.
func (w *work) movePostsOn(user social.UserID) (left bool, err error) {
	rows, err := w.exec(movePosts, user.Bytes(), deleteBatch)
	return rows == deleteBatch, err
}

func (w *work) eraseCommentsBy(user social.UserID) (left bool, err error) {
	return w.eraseSome(toErase{user: user, upTo: lastComment})
}

// lastComment sorts after all ids of comments.
var lastComment = social.CommentID{ID: id.ID(topKey[:len(id.ID{})])}

// takeBackMarks removes some of the user's reactions, votes and muted threads, and corrects the
// counts.
func (w *work) takeBackMarks(user social.UserID) (left bool, err error) {
	for _, marks := range []struct {
		some *statement
		take func(social.PostID, social.UserID) error
	}{{someReactionsBy, w.takeBackReaction}, {someVotesBy, w.takeBackVote}, {someMutesBy, w.takeBackMute}} {
		posts, err := all(w, marks.some, scanPostID, user.Bytes(), deleteBatch)
		if err != nil {
			return false, err
		}
		for _, post := range posts {
			if err := marks.take(post, user); err != nil {
				return false, err
			}
		}
		left = left || len(posts) == deleteBatch
	}
	return left, nil
}

func (w *work) takeBackReaction(post social.PostID, user social.UserID) error {
	counts, kind, err := w.reactionsTo(post, user)
	if err != nil {
		return err
	}
	uncount(counts, kind)
	return w.uncountChoice(setPostReactions, counts, deleteReactionStmt, post, user)
}

func (w *work) takeBackVote(post social.PostID, user social.UserID) error {
	var stored []byte
	var counts []int
	var option int
	if _, err := w.row(postVotes, []any{&stored}, post.Bytes()); err != nil {
		return err
	}
	if err := unmarshal(stored, &counts); err != nil {
		return err
	}
	if _, err := w.row(vote, []any{&option}, post.Bytes(), user.Bytes()); err != nil {
		return err
	}
	if option < len(counts) {
		counts[option]--
	}
	return w.uncountChoice(setPostVotes, counts, deleteVote, post, user)
}

// uncountChoice stores a post's new counts, and removes what the user chose.
func (w *work) uncountChoice(set *statement, counts any, remove *statement, post social.PostID, user social.UserID) error {
	stored, err := json.Marshal(counts)
	if err != nil {
		return err
	}
	if _, err := w.exec(set, string(stored), post.Bytes()); err != nil {
		return err
	}
	_, err = w.exec(remove, post.Bytes(), user.Bytes())
	return err
}

func (w *work) takeBackMute(post social.PostID, user social.UserID) error {
	if _, err := w.exec(countMuter, -1, post.Bytes()); err != nil {
		return err
	}
	_, err := w.exec(unmuteThread, post.Bytes(), user.Bytes())
	return err
}

func (w *work) deleteOwn(user social.UserID) (left bool, err error) {
	return w.deleteSome(user, someCircles, someProfileValues)
}

// forgetInLog removes entries of the event log that name the user, starting with the newest.
// Entries that end sessions, and the one of the deletion, stay: the stream that closes the user's
// connections may not have read them yet.
func (w *work) forgetInLog(user social.UserID) (left bool, err error) {
	var upTo int64
	if _, err := w.row(logLeft, []any{&upTo}, user.Bytes()); err != nil || upTo == 0 {
		return false, err
	}
	from := max(0, upTo-logBatch)
	if _, err := w.exec(cutLog, from, upTo, user.Bytes()); err != nil {
		return false, err
	}
	_, err = w.exec(noteInLog, from, user.Bytes())
	return from > 0, err
}
