package sqlite

import (
	"context"
	"slices"
	"time"

	"plaza/social"
	"plaza/storage/sqlite/internal/eventlog"
	"plaza/storage/sqlite/internal/sqldb"
)

var (
	insertIdentity    = sqldb.Define(`INSERT INTO identities (key, user) VALUES (?, ?) ON CONFLICT DO NOTHING`)
	identitiesByKey   = sqldb.Define(`SELECT key, user, ended_at, away FROM identities WHERE key IN (SELECT unhex(value) FROM json_each(?))`)
	identitiesOf      = sqldb.Define(`SELECT key FROM identities INDEXED BY identities_by_user WHERE user = ?`)
	endIdentity       = sqldb.Define(`UPDATE identities SET ended_at = max(ended_at, ?) WHERE key = ?`)
	abandonIdentity   = sqldb.Define(`UPDATE identities SET user = NULL, ended_at = 0, away = 0 WHERE key = ?`)
	abandonedIdentity = sqldb.Define(`DELETE FROM identities WHERE key = ? AND user IS NULL`)
)

// addIdentity stores whose identity a key is; the zero key is none.
func addIdentity(tx *eventlog.Tx, key [32]byte, user social.UserID) error {
	if key == [32]byte{} {
		return nil
	}
	rows, err := tx.Exec(insertIdentity, key[:], user.Bytes())
	return sqldb.Changed(rows, err, social.ErrIdentityKnown)
}

// Identities implements social.Identities.
func (s *Store) Identities(ctx context.Context, keys [][32]byte) (map[[32]byte]social.Identity, error) {
	list, err := hashList(keys)
	if err != nil {
		return nil, err
	}
	return sqldb.Read(ctx, s.db, func(tx sqldb.Reader) (map[[32]byte]social.Identity, error) {
		return sqldb.ByKey(tx, identitiesByKey, scanIdentity, list)
	})
}

func scanIdentity(scan sqldb.Scan) (_ [32]byte, found social.Identity, err error) {
	var key []byte
	var ended int64
	err = scan(&key, sqldb.Into(&found.User.ID), &ended, &found.Away)
	copy(found.Key[:], key)
	found.EndedAt = sqldb.MomentOf(ended)
	return found.Key, found, err
}

// EndIdentities implements social.Identities.
func (s *Store) EndIdentities(ctx context.Context, user social.UserID, issuedUpTo time.Time) error {
	return s.log.Update(ctx, func(tx *eventlog.Tx) error {
		return changeIdentities(tx, user, endIdentity, sqldb.Moment(issuedUpTo))
	})
}

// abandonIdentities reduces a deleted user's identities to their keys.
func abandonIdentities(tx *eventlog.Tx, user social.UserID) error {
	return changeIdentities(tx, user, abandonIdentity)
}

// changeIdentities ends the tokens of a user's identities by a statement, whose last argument is the
// key.
func changeIdentities(tx *eventlog.Tx, user social.UserID, change *sqldb.Statement, args ...any) error {
	keys, err := sqldb.All(tx, identitiesOf, scanHash, user.Bytes())
	if err != nil {
		return err
	}
	for _, key := range keys {
		if _, err := tx.Exec(change, append(slices.Clip(args), key[:])...); err != nil {
			return err
		}
		if err := tx.AppendWith(social.SessionsEnded(key), social.NewSessionEnded(user, key)); err != nil {
			return err
		}
	}
	return nil
}

// ReadmitIdentity implements social.Identities.
func (s *Store) ReadmitIdentity(ctx context.Context, key [32]byte) error {
	return s.log.Update(ctx, func(tx *eventlog.Tx) error {
		rows, err := tx.Exec(abandonedIdentity, key[:])
		if err := sqldb.Changed(rows, err, social.ErrNotFound); err != nil {
			return err
		}
		tx.Changes.Add(social.SessionsEnded(key))
		return nil
	})
}
