package sqlite

import (
	"context"
	"errors"
	"time"

	"plaza/social"
	"plaza/storage/sqlite/internal/adstore"
	"plaza/storage/sqlite/internal/eventlog"
	"plaza/storage/sqlite/internal/idempotency"
	"plaza/storage/sqlite/internal/invitations"
	"plaza/storage/sqlite/internal/moderation"
	"plaza/storage/sqlite/internal/notifications"
	"plaza/storage/sqlite/internal/sqldb"
)

var (
	markDeleted   = sqldb.Define(`INSERT INTO deleted_users (id, deleted_at) VALUES (?, ?)`)
	isDeleting    = sqldb.Define(`SELECT 1 FROM deleted_users WHERE id = ? AND done = 0`)
	deletionsLeft = sqldb.Define(`SELECT id, deleted_at FROM deleted_users INDEXED BY deleted_users_left WHERE done = 0 AND deleted_at > 0 ORDER BY deleted_at`)
	endDeletion   = sqldb.Define(`UPDATE deleted_users SET done = 1 WHERE id = ?`)
	handleOf      = sqldb.Define(`SELECT handle FROM users WHERE id = ?`)
	deleteUserRow = sqldb.Define(`DELETE FROM users WHERE id = ?`)

	logLeft   = sqldb.Define(`SELECT coalesce(log_up_to, (SELECT max(seq) FROM events)) FROM deleted_users WHERE id = ?`)
	noteInLog = sqldb.Define(`UPDATE deleted_users SET log_up_to = ? WHERE id = ?`)
)

// DeleteUser implements social.Users.
func (s *Store) DeleteUser(ctx context.Context, user social.UserID, e social.Event) error {
	err := s.log.Update(ctx, func(tx *eventlog.Tx) error {
		var handle string
		if err := sqldb.Known(tx.Row(handleOf, []any{&handle}, user.Bytes())); err != nil {
			return err
		}
		if err := s.leaveHandle(tx, handle); err != nil {
			return err
		}
		if _, err := tx.Exec(deleteUserRow, user.Bytes()); err != nil {
			return err
		}
		if _, err := tx.Exec(markDeleted, user.Bytes(), time.Now().UnixMicro()); err != nil {
			return err
		}
		if err := s.endSessions(tx, user, [32]byte{}, social.AllSessions); err != nil {
			return err
		}
		if err := abandonIdentities(tx, user); err != nil {
			return err
		}
		if err := forgetEmail(tx, user); err != nil {
			return err
		}
		if err := invitations.Forget(tx, user); err != nil {
			return err
		}
		return tx.AppendWith(social.AroundChanged(user), e)
	})
	if err == nil {
		s.wake()
	}
	return err
}

// IsDeleting implements social.Users.
func (s *Store) IsDeleting(ctx context.Context, user social.UserID) (bool, error) {
	return sqldb.Read(ctx, s.db, func(tx sqldb.Reader) (bool, error) { return tx.Exists(isDeleting, user.Bytes()) })
}

// toDelete is a row of deleted_users whose work is not done.
type toDelete struct {
	user  social.UserID
	since time.Time
}

func (s *Store) deletions(ctx context.Context) ([]toDelete, error) {
	return sqldb.Read(ctx, s.db, func(tx sqldb.Reader) ([]toDelete, error) {
		return sqldb.All(tx, deletionsLeft, func(scan sqldb.Scan) (of toDelete, err error) {
			var since int64
			err = scan(sqldb.Into(&of.user.ID), &since)
			of.since = sqldb.MomentOf(since)
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

// removal deletes a part of what a noun has stored for a deleted user, and reports whether there
// may be more. Each one is in the file of its noun. It keeps no record of its progress but looks
// for what is left, so it can be interrupted anywhere.
type removal func(tx *eventlog.Tx, user social.UserID) (left bool, err error)

// removals are the removals of all nouns. Each is completed before the next begins.
var removals = []removal{
	cutFollows, cutOtherEdges, deletePostsBy, movePostsOn, eraseCommentsBy, takeBackMarks,
	notifications.Forget, moderation.Forget, forgetKeys, forgetAds, deleteCirclesOf, deleteProfileOf, forgetInLog,
}

func forgetKeys(tx *eventlog.Tx, user social.UserID) (left bool, err error) {
	return idempotency.Forget(tx.Tx, user)
}

func forgetAds(tx *eventlog.Tx, user social.UserID) (left bool, err error) {
	return adstore.ForgetUser(tx.Tx, user.String())
}

// deleteLeft removes a user's data in chunks, one transaction each.
func (s *Store) deleteLeft(ctx context.Context, user social.UserID) error {
	for _, remove := range removals {
		for left := true; left; {
			err := s.log.Update(ctx, func(tx *eventlog.Tx) (err error) {
				left, err = remove(tx, user)
				return err
			})
			if err != nil {
				return err
			}
		}
	}
	return s.log.Update(ctx, func(tx *eventlog.Tx) error {
		_, err := tx.Exec(endDeletion, user.Bytes())
		return err
	})
}

// forgetInLog removes events that name the user, starting with the newest.
func forgetInLog(tx *eventlog.Tx, user social.UserID) (left bool, err error) {
	var upTo int64
	if _, err := tx.Row(logLeft, []any{&upTo}, user.Bytes()); err != nil || upTo == 0 {
		return false, err
	}
	from, err := eventlog.Forget(tx.Tx, user, upTo)
	if err != nil {
		return false, err
	}
	_, err = tx.Exec(noteInLog, from, user.Bytes())
	return from > 0, err
}
