package sqlite

import (
	"plaza/social"
	"plaza/storage/sqlite/internal/sqldb"
)

var (
	isDeleted       = sqldb.Define(`SELECT 1 FROM deleted_users WHERE id = ?`)
	isEitherDeleted = sqldb.Define(`SELECT 1 FROM deleted_users WHERE id IN (?, ?)`)
	userExistedOnce = sqldb.Define(`SELECT 1 FROM users WHERE id = ?1 UNION ALL SELECT 1 FROM deleted_users WHERE id = ?1`)
)

// refuseDeleted returns an error if a user has deleted their account. There is only one writing
// connection, so nothing can be stored for them after the deletion.
func refuseDeleted(tx sqldb.Reader, user social.UserID, refusal error) error {
	deleted, err := tx.Exists(isDeleted, user.Bytes())
	if err == nil && deleted {
		return refusal
	}
	return err
}
