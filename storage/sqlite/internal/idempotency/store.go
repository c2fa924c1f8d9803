package idempotency

import (
	"bytes"
	"context"
	"time"

	"plaza/social"
	"plaza/storage/sqlite/internal/sqldb"
)

var (
	idempotencyKey = sqldb.Define(`SELECT fingerprint, until, effect, answer FROM idempotency_keys WHERE user = ? AND key = ?`)
	takeKey        = sqldb.Define(`INSERT INTO idempotency_keys (user, key, fingerprint, attempt, until, expires) VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT DO UPDATE SET fingerprint = excluded.fingerprint, attempt = excluded.attempt, until = excluded.until, expires = excluded.expires`)
	takeEffect  = sqldb.Define(`UPDATE idempotency_keys SET effect = 1 WHERE user = ? AND key = ? AND attempt = ?`)
	endAttempt  = sqldb.Define(`UPDATE idempotency_keys SET until = 0, answer = ? WHERE user = ? AND key = ? AND attempt = ?`)
	isKeyKnown  = sqldb.Define(`SELECT 1 FROM idempotency_keys WHERE user = ? AND key = ?`)
	someKeysOf  = sqldb.Define(`DELETE FROM idempotency_keys WHERE rowid IN (SELECT rowid FROM idempotency_keys WHERE user = ? LIMIT ?)`)
	expiredKeys = sqldb.Define(`DELETE FROM idempotency_keys WHERE rowid IN (
		SELECT rowid FROM idempotency_keys INDEXED BY idempotency_keys_by_expiry WHERE expires < ? LIMIT ?)`)
)

// Store implements social.IdempotencyKeys on a file.
type Store struct {
	db     *sqldb.DB
	clock  func() time.Time
	refuse Refuse
}

// Refuse returns an error if a user may store nothing any more.
type Refuse func(tx sqldb.Reader, user social.UserID) error

var _ social.IdempotencyKeys = (*Store)(nil)

// New returns the store for the idempotency keys in a file.
func New(db *sqldb.DB, clock func() time.Time, refuse Refuse) *Store {
	return &Store{db: db, clock: clock, refuse: refuse}
}

// BeginAttempt implements social.IdempotencyKeys. A call that waits for another attempt only reads.
func (s *Store) BeginAttempt(ctx context.Context, a social.Attempt, lease time.Duration) (answer []byte, err error) {
	isFree := false
	err = s.db.View(ctx, func(tx sqldb.Reader) error {
		answer, isFree, err = answerOf(tx, a, s.clock())
		return err
	})
	if err != nil || !isFree {
		return answer, err
	}
	err = s.db.Update(ctx, func(tx *sqldb.Tx) error {
		now := s.clock()
		if answer, isFree, err = answerOf(tx, a, now); err != nil || !isFree {
			return err
		}
		if err := s.refuse(tx, a.User); err != nil {
			return err
		}
		_, err := tx.Exec(takeKey, a.User.Bytes(), a.Key, a.Fingerprint[:], a.ID.Bytes(), sqldb.Moment(now.Add(lease)), sqldb.Moment(now.Add(social.AnswerLifetime)))
		return err
	})
	return answer, err
}

// answerOf returns the answer for an attempt's key, or whether the key is free.
func answerOf(tx sqldb.Reader, a social.Attempt, now time.Time) (answer []byte, isFree bool, err error) {
	var fingerprint []byte
	var until int64
	var effect bool
	found, err := tx.Row(idempotencyKey, []any{&fingerprint, &until, &effect, &answer}, a.User.Bytes(), a.Key)
	isOver := until <= sqldb.Moment(now)
	switch {
	case err != nil:
		return nil, false, err
	case !found, answer == nil && !effect && isOver:
		return nil, true, nil
	case !bytes.Equal(fingerprint, a.Fingerprint[:]):
		return nil, false, social.ErrKeyReused
	case answer != nil:
		return answer, false, nil
	case isOver:
		return nil, false, social.ErrAnswerLost
	}
	return nil, false, social.ErrKeyInUse
}

// EndAttempt implements social.IdempotencyKeys.
func (s *Store) EndAttempt(ctx context.Context, a social.Attempt, answer []byte) error {
	var kept any // a nil slice would be an empty answer
	if answer != nil {
		kept = answer
	}
	return s.db.Update(ctx, func(tx *sqldb.Tx) error {
		rows, err := tx.Exec(endAttempt, kept, a.User.Bytes(), a.Key, a.ID.Bytes())
		if err != nil || rows > 0 {
			return err
		}
		isKnown, err := tx.Exists(isKeyKnown, a.User.Bytes(), a.Key)
		if err == nil && isKnown {
			return social.ErrAttemptOver
		}
		return err
	})
}

// TakeEffect stores that the attempts of a transaction's context have had an effect.
func TakeEffect(tx *sqldb.Tx) error {
	for _, a := range social.AttemptsOf(tx.Context()) {
		rows, err := tx.Exec(takeEffect, a.User.Bytes(), a.Key, a.ID.Bytes())
		if err := sqldb.Changed(rows, err, social.ErrAttemptOver); err != nil {
			return err
		}
	}
	return nil
}

// Forget removes some of the keys of a deleted user, and reports whether there may be more.
func Forget(tx *sqldb.Tx, user social.UserID) (left bool, err error) {
	return sqldb.DeleteSome(tx, user, someKeysOf)
}

// Expire removes keys that are too old.
func (s *Store) Expire(ctx context.Context) error {
	return s.db.DeleteAll(ctx, expiredKeys, sqldb.Moment(s.clock()))
}
