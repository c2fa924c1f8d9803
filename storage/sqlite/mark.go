package sqlite

import (
	"context"
	"encoding/json"
	"fmt"

	"plaza/id"
	"plaza/social"
	"plaza/storage/sqlite/internal/eventlog"
	"plaza/storage/sqlite/internal/sqldb"
)

var (
	postVotes          = sqldb.Define(`SELECT votes FROM posts WHERE id = ?`)
	setPostVotes       = sqldb.Define(`UPDATE posts SET votes = ? WHERE id = ?`)
	vote               = sqldb.Define(`SELECT option FROM votes WHERE post = ? AND user = ?`)
	putVote            = sqldb.Define(`INSERT INTO votes (post, user, option) VALUES (?, ?, ?) ON CONFLICT (post, user) DO UPDATE SET option = excluded.option`)
	votes              = sqldb.Define(`SELECT post, option FROM votes WHERE post IN (SELECT unhex(value) FROM json_each(?)) AND user = ?`)
	postReactions      = sqldb.Define(`SELECT reactions FROM posts WHERE id = ?`)
	setPostReactions   = sqldb.Define(`UPDATE posts SET reactions = ? WHERE id = ?`)
	reaction           = sqldb.Define(`SELECT kind FROM reactions WHERE post = ? AND user = ?`)
	putReaction        = sqldb.Define(`INSERT INTO reactions (post, user, kind) VALUES (?, ?, ?) ON CONFLICT (post, user) DO UPDATE SET kind = excluded.kind`)
	deleteReactionStmt = sqldb.Define(`DELETE FROM reactions WHERE post = ? AND user = ?`)
	muteThread         = sqldb.Define(`INSERT INTO thread_mutes (post, user) VALUES (?, ?) ON CONFLICT DO NOTHING`)
	unmuteThread       = sqldb.Define(`DELETE FROM thread_mutes WHERE post = ? AND user = ?`)
	countMuter         = sqldb.Define(`UPDATE posts SET muters = muters + ? WHERE id = ?`)
	// A pair is 64 hexadecimal digits: the post's id and the user's.
	mutedThreads = sqldb.Define(`
		WITH pairs AS MATERIALIZED (
			SELECT unhex(substr(value, 1, 32)) AS of_post, unhex(substr(value, 33)) AS of_user FROM json_each(?))
		SELECT post, user, 1 FROM pairs CROSS JOIN thread_mutes WHERE post = of_post AND user = of_user`)
	reactions       = sqldb.Define(`SELECT post, kind FROM reactions WHERE post IN (SELECT unhex(value) FROM json_each(?)) AND user = ?`)
	someReactionsBy = sqldb.Define(`SELECT post FROM reactions INDEXED BY reactions_by_user WHERE user = ? LIMIT ?`)
	someVotesBy     = sqldb.Define(`SELECT post FROM votes INDEXED BY votes_by_user WHERE user = ? LIMIT ?`)
	someMutesBy     = sqldb.Define(`SELECT post FROM thread_mutes INDEXED BY thread_mutes_by_user WHERE user = ? LIMIT ?`)
	deleteVote      = sqldb.Define(`DELETE FROM votes WHERE post = ? AND user = ?`)
)

// PutVote implements social.Posts. There is only one writing connection, so the counts cannot
// change between reading and storing them.
func (s *Store) PutVote(ctx context.Context, post social.PostID, user social.UserID, option int, e social.Event) error {
	return s.log.Update(ctx, func(tx *eventlog.Tx) error {
		if err := refuseDeleted(tx, user, social.ErrAccountGone); err != nil {
			return err
		}
		var stored []byte
		var counts []int
		if err := sqldb.Known(tx.Row(postVotes, []any{&stored}, post.Bytes())); err != nil {
			return err
		}
		if err := unmarshal(stored, &counts); err != nil {
			return err
		}
		if option < 0 || option >= len(counts) {
			return fmt.Errorf("a vote for option %d of %d", option, len(counts))
		}
		var earlier int
		voted, err := tx.Row(vote, []any{&earlier}, post.Bytes(), user.Bytes())
		if err != nil || voted && earlier == option {
			return err
		}
		if voted {
			counts[earlier]--
		}
		counts[option]++
		return storeChoice(tx, setPostVotes, counts, putVote, post, user, option, e)
	})
}

// storeChoice stores a post's new counts, the user's choice, and the event.
func storeChoice(tx *eventlog.Tx, set *sqldb.Statement, counts any, put *sqldb.Statement, post social.PostID, user social.UserID, choice any, e social.Event) error {
	stored, err := json.Marshal(counts)
	if err != nil {
		return err
	}
	if _, err := tx.Exec(set, string(stored), post.Bytes()); err != nil {
		return err
	}
	if _, err := tx.Exec(put, post.Bytes(), user.Bytes(), choice); err != nil {
		return err
	}
	return tx.Append(e)
}

// Votes implements social.Posts.
func (s *Store) Votes(ctx context.Context, user social.UserID, posts []social.PostID) (map[social.PostID]int, error) {
	return choices[int](ctx, s, votes, user, posts)
}

// choices reads the user's choice at each post.
func choices[T any](ctx context.Context, s *Store, st *sqldb.Statement, user social.UserID, posts []social.PostID) (map[social.PostID]T, error) {
	return sqldb.Read(ctx, s.db, func(tx sqldb.Reader) (map[social.PostID]T, error) {
		return sqldb.ByKey(tx, st, func(scan sqldb.Scan) (post social.PostID, choice T, err error) {
			err = scan(sqldb.Into(&post.ID), &choice)
			return post, choice, err
		}, sqldb.HexList(posts), user.Bytes())
	})
}

// PutReaction implements social.Posts.
func (s *Store) PutReaction(ctx context.Context, post social.PostID, user social.UserID, kind social.ReactionKind, e social.Event) error {
	return s.log.Update(ctx, func(tx *eventlog.Tx) error {
		if err := refuseDeleted(tx, user, social.ErrAccountGone); err != nil {
			return err
		}
		counts, earlier, err := reactionsTo(tx, post, user)
		if err != nil || earlier == kind {
			return err
		}
		uncount(counts, earlier)
		counts[kind]++
		return storeChoice(tx, setPostReactions, counts, putReaction, post, user, string(kind), e)
	})
}

// DeleteReaction implements social.Posts. If there is no reaction, it stores no event.
func (s *Store) DeleteReaction(ctx context.Context, post social.PostID, user social.UserID, e social.Event) error {
	return s.log.Update(ctx, func(tx *eventlog.Tx) error {
		counts, earlier, err := reactionsTo(tx, post, user)
		if err != nil || earlier == "" {
			return err
		}
		uncount(counts, earlier)
		if err := uncountChoice(tx, setPostReactions, counts, deleteReactionStmt, post, user); err != nil {
			return err
		}
		return tx.Append(e)
	})
}

// reactionsTo reads a post's counts and the user's own reaction, which is empty if there is none.
func reactionsTo(tx sqldb.Reader, post social.PostID, user social.UserID) (map[social.ReactionKind]int, social.ReactionKind, error) {
	var stored []byte
	counts := map[social.ReactionKind]int{}
	var own social.ReactionKind
	if err := sqldb.Known(tx.Row(postReactions, []any{&stored}, post.Bytes())); err != nil {
		return nil, "", err
	}
	if err := unmarshal(stored, &counts); err != nil {
		return nil, "", err
	}
	_, err := tx.Row(reaction, []any{&own}, post.Bytes(), user.Bytes())
	return counts, own, err
}

func uncount(counts map[social.ReactionKind]int, kind social.ReactionKind) {
	if counts[kind]--; counts[kind] <= 0 {
		delete(counts, kind)
	}
}

// Reactions implements social.Posts.
func (s *Store) Reactions(ctx context.Context, user social.UserID, posts []social.PostID) (map[social.PostID]social.ReactionKind, error) {
	return choices[social.ReactionKind](ctx, s, reactions, user, posts)
}

// MuteThread implements social.Posts.
func (s *Store) MuteThread(ctx context.Context, post social.PostID, user social.UserID, e social.Event) (bool, error) {
	return s.changeThreadMute(ctx, muteThread, 1, post, user, e)
}

// UnmuteThread implements social.Posts.
func (s *Store) UnmuteThread(ctx context.Context, post social.PostID, user social.UserID, e social.Event) (bool, error) {
	return s.changeThreadMute(ctx, unmuteThread, -1, post, user, e)
}

func (s *Store) changeThreadMute(ctx context.Context, change *sqldb.Statement, by int, post social.PostID, user social.UserID, e social.Event) (did bool, err error) {
	err = s.log.Update(ctx, func(tx *eventlog.Tx) error {
		if err := refuseDeleted(tx, user, social.ErrAccountGone); err != nil {
			return err
		}
		if err := requirePost(tx, post); err != nil {
			return err
		}
		rows, err := tx.Exec(change, post.Bytes(), user.Bytes())
		if did = rows > 0; err != nil || !did {
			return err
		}
		if _, err := tx.Exec(countMuter, by, post.Bytes()); err != nil {
			return err
		}
		return tx.Append(e)
	})
	return did && err == nil, err
}

// MutedThreads implements social.Posts.
func (s *Store) MutedThreads(ctx context.Context, mutes []social.ThreadMute) (map[social.ThreadMute]bool, error) {
	pairs := hexPairs(mutes, func(m social.ThreadMute) (post, user id.ID) { return m.Post.ID, m.User.ID })
	return sqldb.Read(ctx, s.db, func(tx sqldb.Reader) (map[social.ThreadMute]bool, error) {
		return sqldb.ByKey(tx, mutedThreads, func(scan sqldb.Scan) (m social.ThreadMute, mutes bool, err error) {
			err = scan(sqldb.Into(&m.Post.ID), sqldb.Into(&m.User.ID), &mutes)
			return m, mutes, err
		}, pairs)
	})
}

// takeBackMarks removes some of the user's reactions, votes and muted threads, and corrects the
// counts.
func takeBackMarks(tx *eventlog.Tx, user social.UserID) (left bool, err error) {
	for _, marks := range []struct {
		some *sqldb.Statement
		take func(*eventlog.Tx, social.PostID, social.UserID) error
	}{{someReactionsBy, takeBackReaction}, {someVotesBy, takeBackVote}, {someMutesBy, takeBackMute}} {
		posts, err := sqldb.All(tx, marks.some, scanPostID, user.Bytes(), sqldb.Batch)
		if err != nil {
			return false, err
		}
		for _, post := range posts {
			if err := marks.take(tx, post, user); err != nil {
				return false, err
			}
		}
		left = left || len(posts) == sqldb.Batch
	}
	return left, nil
}

func takeBackReaction(tx *eventlog.Tx, post social.PostID, user social.UserID) error {
	counts, kind, err := reactionsTo(tx, post, user)
	if err != nil {
		return err
	}
	uncount(counts, kind)
	if err := uncountChoice(tx, setPostReactions, counts, deleteReactionStmt, post, user); err != nil {
		return err
	}
	return tx.Append(social.NewPostReduced(post))
}

func takeBackVote(tx *eventlog.Tx, post social.PostID, user social.UserID) error {
	var stored []byte
	var counts []int
	var option int
	if _, err := tx.Row(postVotes, []any{&stored}, post.Bytes()); err != nil {
		return err
	}
	if err := unmarshal(stored, &counts); err != nil {
		return err
	}
	if _, err := tx.Row(vote, []any{&option}, post.Bytes(), user.Bytes()); err != nil {
		return err
	}
	if option < len(counts) {
		counts[option]--
	}
	if err := uncountChoice(tx, setPostVotes, counts, deleteVote, post, user); err != nil {
		return err
	}
	return tx.Append(social.NewPostReduced(post))
}

// uncountChoice stores a post's new counts, and removes what the user chose.
func uncountChoice(tx *eventlog.Tx, set *sqldb.Statement, counts any, remove *sqldb.Statement, post social.PostID, user social.UserID) error {
	stored, err := json.Marshal(counts)
	if err != nil {
		return err
	}
	if _, err := tx.Exec(set, string(stored), post.Bytes()); err != nil {
		return err
	}
	_, err = tx.Exec(remove, post.Bytes(), user.Bytes())
	return err
}

func takeBackMute(tx *eventlog.Tx, post social.PostID, user social.UserID) error {
	if _, err := tx.Exec(countMuter, -1, post.Bytes()); err != nil {
		return err
	}
	_, err := tx.Exec(unmuteThread, post.Bytes(), user.Bytes())
	return err
}
