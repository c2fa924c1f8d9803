package sqlite

import (
	"context"
	"time"

	"plaza/social"
	"plaza/storage/sqlite/internal/eventlog"
	"plaza/storage/sqlite/internal/sqldb"
)

var (
	keepHandle   = sqldb.Define(`INSERT INTO left_handles (key, expires_at) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET expires_at = excluded.expires_at`)
	isHandleKept = sqldb.Define(`SELECT 1 FROM left_handles WHERE key = ? AND expires_at > ?`)
	leftLongAgo  = sqldb.Define(`DELETE FROM left_handles WHERE key IN (
		SELECT key FROM left_handles INDEXED BY left_handles_by_expiry WHERE expires_at <= ? LIMIT ?)`)
)

// IsHandleKept implements social.Users.
func (s *Store) IsHandleKept(ctx context.Context, handle string, at time.Time) (bool, error) {
	return sqldb.Read(ctx, s.db, func(tx sqldb.Reader) (bool, error) { return handleIsKept(tx, handle, at) })
}

func handleIsKept(tx sqldb.Reader, handle string, at time.Time) (bool, error) {
	key := social.KeyOfLeftHandle(handle)
	return tx.Exists(isHandleKept, key[:], sqldb.Moment(at))
}

// refuseKept returns social.ErrTaken if a new user may not have the handle yet.
func refuseKept(tx sqldb.Reader, u social.NewUser) error {
	if u.At.IsZero() {
		return nil
	}
	kept, err := handleIsKept(tx, u.User.Handle, u.At)
	if err == nil && kept {
		return social.ErrTaken
	}
	return err
}

// leaveHandle keeps the handle of a user who is deleted.
func (s *Store) leaveHandle(tx *eventlog.Tx, handle string) error {
	key := social.KeyOfLeftHandle(handle)
	_, err := tx.Exec(keepHandle, key[:], sqldb.Moment(s.clock().Add(social.HandleRest)))
	return err
}

// expireHandles removes the records of handles that others can take by now.
func (s *Store) expireHandles(ctx context.Context) error {
	return s.db.DeleteAll(ctx, leftLongAgo, sqldb.Moment(s.clock()))
}
