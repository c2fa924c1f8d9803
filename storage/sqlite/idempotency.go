package sqlite

import (
	"bytes"
	"context"
	"time"

	"plaza/social"
)

var (
	idempotencyKey = define(`SELECT fingerprint, until, effect, answer FROM idempotency_keys WHERE user = ? AND key = ?`)
	takeKey        = define(`INSERT INTO idempotency_keys (user, key, fingerprint, attempt, until, expires) VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT DO UPDATE SET fingerprint = excluded.fingerprint, attempt = excluded.attempt, until = excluded.until, expires = excluded.expires`)
	takeEffect  = define(`UPDATE idempotency_keys SET effect = 1 WHERE user = ? AND key = ? AND attempt = ?`)
	endAttempt  = define(`UPDATE idempotency_keys SET until = 0, answer = ? WHERE user = ? AND key = ? AND attempt = ?`)
	isKeyKnown  = define(`SELECT 1 FROM idempotency_keys WHERE user = ? AND key = ?`)
	someKeysOf  = define(`DELETE FROM idempotency_keys WHERE rowid IN (SELECT rowid FROM idempotency_keys WHERE user = ? LIMIT ?)`)
	expiredKeys = define(`DELETE FROM idempotency_keys WHERE rowid IN (
		SELECT rowid FROM idempotency_keys INDEXED BY idempotency_keys_by_expiry WHERE expires < ? LIMIT ?)`)
)

// BeginAttempt implements social.IdempotencyKeys. Those who wait for another attempt only read.
func (s *Store) BeginAttempt(ctx context.Context, a social.Attempt, lease time.Duration) (answer []byte, err error) {
	isFree := false
	err = s.view(ctx, func(w *work) error {
		answer, isFree, err = w.answerOf(a, s.clock())
		return err
	})
	if err != nil || !isFree {
		return answer, err
	}
	err = s.update(ctx, func(w *work) error {
		now := s.clock()
		if answer, isFree, err = w.answerOf(a, now); err != nil || !isFree {
			return err
		}
		if err := w.refuseDeleted(a.User, social.ErrAccountGone); err != nil {
			return err
		}
		_, err := w.exec(takeKey, a.User.Bytes(), a.Key, a.Fingerprint[:], a.ID.Bytes(), moment(now.Add(lease)), moment(now.Add(social.AnswerLifetime)))
		return err
	})
	return answer, err
}

// answerOf returns the answer for an attempt's key, or whether the key is free.
func (w *work) answerOf(a social.Attempt, now time.Time) (answer []byte, isFree bool, err error) {
	var fingerprint []byte
	var until int64
	var effect bool
	found, err := w.row(idempotencyKey, []any{&fingerprint, &until, &effect, &answer}, a.User.Bytes(), a.Key)
	isOver := until <= moment(now)
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
	return s.update(ctx, func(w *work) error {
		rows, err := w.exec(endAttempt, kept, a.User.Bytes(), a.Key, a.ID.Bytes())
		if err != nil || rows > 0 {
			return err
		}
		isKnown, err := w.exists(isKeyKnown, a.User.Bytes(), a.Key)
		if err == nil && isKnown {
			return social.ErrAttemptOver
		}
		return err
	})
}

// takeEffect stores that the attempts of the work's context have had an effect.
func (w *work) takeEffect() error {
	for _, a := range social.AttemptsOf(w.ctx) {
		rows, err := w.exec(takeEffect, a.User.Bytes(), a.Key, a.ID.Bytes())
		if err := changed(rows, err, social.ErrAttemptOver); err != nil {
			return err
		}
	}
	return nil
}

// forgetKeys removes some of the idempotency keys of a deleted user.
func (w *work) forgetKeys(user social.UserID) (left bool, err error) {
	return w.deleteSome(user, someKeysOf)
}

// expireKeys removes idempotency keys that are too old.
func (s *Store) expireKeys(ctx context.Context) error {
	return s.deleteBatches(ctx, expiredKeys, moment(time.Now()))
}
